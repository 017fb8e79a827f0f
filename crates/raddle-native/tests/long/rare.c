// Two threads work alone for WORK rounds, then tell the other one; ROUNDS times.

#include <pthread.h>
#include <stdatomic.h>

static atomic_int own[2], told[2];

static void *run(void *argument) {
    long me = (long)argument;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < WORK; i++) {
            int seen = atomic_load_explicit(&own[me], memory_order_relaxed);
            atomic_store_explicit(&own[me], seen + 1, memory_order_relaxed);
        }
        atomic_store_explicit(&told[me], round, memory_order_relaxed);
        atomic_load_explicit(&told[1 - me], memory_order_relaxed);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
