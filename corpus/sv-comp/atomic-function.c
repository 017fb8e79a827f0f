// A function whose name makes it atomic.
#include <pthread.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

static int count;

void __VERIFIER_atomic_add(int number) {
    count = count + number;
    count = count + number;
}
static void *add(void *unused) {
    __VERIFIER_atomic_add(1);
    return 0;
}
static void *look(void *unused) {
    int seen = count;
    __VERIFIER_assert(seen % 2 == 0);
    return 0;
}
int main(void) {
    pthread_t ids[3];
    pthread_create(&ids[0], 0, add, 0);
    pthread_create(&ids[1], 0, add, 0);
    pthread_create(&ids[2], 0, look, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    pthread_join(ids[2], 0);
    __VERIFIER_assert(count == 4);
    return 0;
}
