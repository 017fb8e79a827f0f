// Two inputs that are not constrained. Only one pair of them is wrong, and only if the other thread is in between.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);

static atomic_int key, seen;

static void *other(void *unused) {
    int value = atomic_load(&key);
    atomic_store(&seen, value * 3 + 1);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, other, 0);
    int value = __VERIFIER_nondet_int();
    unsigned char shift = __VERIFIER_nondet_uchar();
    atomic_store(&key, value);
    if (shift == 200)
        assert(atomic_load(&seen) != 370369);
    pthread_join(id, 0);
}
