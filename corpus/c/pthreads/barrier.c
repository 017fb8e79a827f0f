// Everything before a barrier happens before everything after it. BROKEN does not wait.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif

static pthread_barrier_t barrier;
static int values[N], serial;

static void *run(void *argument) {
    long i = (long)argument;
    values[i] = 1;
#ifndef BROKEN
    int last = pthread_barrier_wait(&barrier);
    assert(last == 0 || last == PTHREAD_BARRIER_SERIAL_THREAD);
    if (last)
        serial++;
#endif
    assert(values[(i + 1) % N] == 1);
    return 0;
}

int main(void) {
    pthread_t ids[N];
    pthread_barrier_init(&barrier, 0, N);
    for (long i = 0; i < N; i++)
        pthread_create(&ids[i], 0, run, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(ids[i], 0);
    pthread_barrier_destroy(&barrier);
    assert(serial == 1);
}
