// A division by zero, if another thread is quick.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int divisor = 1;

static void *run(void *unused) {
    atomic_store(&divisor, 0);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    int quotient = 10 / atomic_load(&divisor);
    (void)quotient;
    pthread_join(id, 0);
}
