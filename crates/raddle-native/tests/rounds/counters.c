// Threads that count and set flags, and do not use the result.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 5

static atomic_int count;
static atomic_uint flags;
static atomic_long left = THREADS;

static void *work(void *argument) {
    atomic_fetch_add_explicit(&count, 2, memory_order_relaxed);
    atomic_fetch_or_explicit(&flags, 1u << (long)argument, memory_order_release);
    atomic_fetch_sub_explicit(&left, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], 0, work, (void *)i);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], 0);
    }
#ifdef WRONG
    assert(count < 2 * THREADS);
#else
    assert(count == 2 * THREADS && flags == (1u << THREADS) - 1 && left == 0);
#endif
    return 0;
}
