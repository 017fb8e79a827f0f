// Two threads add up an array that the main thread has initialised, and increment a counter.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 600

static int array[N];
static atomic_int count;

static void *run(void *result) {
    int sum = 0;
    for (int i = 0; i < N; i++)
        sum += array[i];
    *(int *)result = sum;
    int seen = atomic_load_explicit(&count, memory_order_relaxed);
    atomic_store_explicit(&count, seen + 1, memory_order_relaxed);
    return NULL;
}

int main(void) {
    for (int i = 0; i < N; i++)
        array[i] = i;
    pthread_t threads[2];
    int sums[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, &sums[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(sums[0] == N * (N - 1) / 2 && sums[1] == sums[0]);
    return 0;
}
