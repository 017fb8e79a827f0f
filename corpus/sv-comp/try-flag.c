// A thread enters if the other one does not want to.
#include <pthread.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

static volatile int wants[2], inside;
static void *first(void *unused) {
    wants[0] = 1;
    if (!wants[1]) {
        int seen = inside;
        __VERIFIER_assert(seen == 0);
        inside = 1;
        inside = 0;
    }
    wants[0] = 0;
    return 0;
}
static void *second(void *unused) {
    wants[1] = 1;
    if (!wants[0]) {
        int seen = inside;
        __VERIFIER_assert(seen == 0);
        inside = 1;
        inside = 0;
    }
    wants[1] = 0;
    return 0;
}
int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, first, 0);
    pthread_create(&ids[1], 0, second, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    return 0;
}
