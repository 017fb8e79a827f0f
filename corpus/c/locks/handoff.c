// Two threads take turns, N times each.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static atomic_int turn;
static int counter;

static void *run(void *argument) {
    int me = (int)(long)argument;
    for (int k = 0; k < N; k++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != me)
            ;
        assert(counter == 2 * k + me);
        counter++;
        atomic_store_explicit(&turn, 1 - me, memory_order_release);
    }
    return 0;
}

int main(void) {
    pthread_t ids[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    assert(counter == 2 * N);
}
