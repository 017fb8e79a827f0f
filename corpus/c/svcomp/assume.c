// An execution in which the assumption fails is of no interest.
#include <pthread.h>
#include <stdatomic.h>

extern void __VERIFIER_assume(int);
extern void __VERIFIER_error(void);

static atomic_int x;

static void *run(void *unused) {
    atomic_store(&x, 1);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    __VERIFIER_assume(atomic_load(&x) == 1);
    if (atomic_load(&x) != 1)
        __VERIFIER_error();
    pthread_join(id, 0);
}
