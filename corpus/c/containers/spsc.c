// A ring with one producer and one consumer.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif

#ifndef N
#define N 3
#endif

enum { SIZE = 2 };

static int ring[SIZE];
static atomic_uint head, tail;

static void *producer(void *unused) {
    for (int value = 1; value <= N; value++) {
        unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
        while (at - atomic_load_explicit(&head, memory_order_acquire) == SIZE)
            ;
        ring[at % SIZE] = value;
        atomic_store_explicit(&tail, at + 1, RELEASE);
    }
    return 0;
}

static void *consumer(void *unused) {
    for (int value = 1; value <= N; value++) {
        unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
        while (atomic_load_explicit(&tail, memory_order_acquire) == at)
            ;
        assert(ring[at % SIZE] == value);
        atomic_store_explicit(&head, at + 1, memory_order_release);
    }
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, producer, 0);
    pthread_create(&ids[1], 0, consumer, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
}
