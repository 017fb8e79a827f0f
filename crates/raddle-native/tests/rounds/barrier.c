// Threads that meet at a barrier, and write before and after it.
#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 6
#endif

static pthread_barrier_t barrier;
static int values[THREADS];

static void *run(void *argument) {
    long i = (long)argument, serial = 0;
    for (int round = 1; round <= 2; round++) {
        values[i] = round;
#ifdef RESULT
        serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
#elif !defined NO_WAIT
        pthread_barrier_wait(&barrier);
#endif
        assert(values[(i + 1) % THREADS] == round);
#ifdef LEAVE
        if (i == 0)
            break;
#endif
        pthread_barrier_wait(&barrier);
    }
    return (void *)serial;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, 0, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, run, (void *)i);
#ifdef ONE_MORE
    pthread_barrier_wait(&barrier);
#endif
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
