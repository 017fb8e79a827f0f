// Two phases without a barrier between them.
#include <pthread.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

static pthread_barrier_t barrier;
static int parts[2];
static void *first(void *unused) {
    parts[0] = 1;
    __VERIFIER_assert(parts[1] == 1);
    return 0;
}
static void *second(void *unused) {
    parts[1] = 1;
    __VERIFIER_assert(parts[0] == 1);
    return 0;
}
int main(void) {
    pthread_t ids[2];
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&ids[0], 0, first, 0);
    pthread_create(&ids[1], 0, second, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    return 0;
}
