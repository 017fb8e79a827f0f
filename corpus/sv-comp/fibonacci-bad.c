// The largest number that two threads can compute. The bound is too small.
#include <pthread.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int i = 1, j = 1;
static void *first(void *unused) {
    for (int round = 0; round < 2; round++) {
        __VERIFIER_atomic_begin();
        i = i + j;
        __VERIFIER_atomic_end();
    }
    return 0;
}
static void *second(void *unused) {
    for (int round = 0; round < 2; round++) {
        __VERIFIER_atomic_begin();
        j = j + i;
        __VERIFIER_atomic_end();
    }
    return 0;
}
int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, first, 0);
    pthread_create(&ids[1], 0, second, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    __VERIFIER_assert(i <= 7 && j <= 7);
    return 0;
}
