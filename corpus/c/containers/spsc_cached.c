// A ring with one producer and one consumer. Each remembers the index of the other one, and looks again only if the ring
// seems full or empty.
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
    unsigned known_head = 0;
    for (unsigned at = 0; at < N; at++) {
        while (at - known_head == SIZE)
            known_head = atomic_load_explicit(&head, memory_order_acquire);
        ring[at % SIZE] = (int)at;
        atomic_store_explicit(&tail, at + 1, RELEASE);
    }
    return 0;
}

static void *consumer(void *unused) {
    unsigned known_tail = 0;
    for (unsigned at = 0; at < N; at++) {
        while (at == known_tail)
            known_tail = atomic_load_explicit(&tail, memory_order_acquire);
        assert(ring[at % SIZE] == (int)at);
        atomic_store_explicit(&head, at + 1, RELEASE);
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
