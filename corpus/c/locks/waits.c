// A thread waits for K flags in a row. BROKEN raises the last one without a release.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef K
#define K 2
#endif

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif

static atomic_int flags[K];
static int data;

static void *raiser(void *unused) {
    for (int i = 0; i < K - 1; i++)
        atomic_store_explicit(&flags[i], 1, memory_order_relaxed);
    data = 1;
    atomic_store_explicit(&flags[K - 1], 1, RELEASE);
    return 0;
}

static void *waiter(void *unused) {
    for (int i = 0; i < K; i++)
        while (!atomic_load_explicit(&flags[i], memory_order_acquire))
            ;
    assert(data == 1);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, raiser, 0);
    pthread_create(&ids[1], 0, waiter, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
}
