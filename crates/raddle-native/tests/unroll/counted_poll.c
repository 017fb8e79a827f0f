// A thread counts its rounds until it is told to stop; the count is read in the middle.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stop, rounds;

static void *work(void *argument) {
    while (!atomic_load(&stop))
        atomic_fetch_add_explicit(&rounds, 1, memory_order_relaxed);
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    assert(atomic_load(&rounds) != 2);
    atomic_store(&stop, 1);
    pthread_join(thread, 0);
    return 0;
}
