// Vyukov's bounded queue for many producers and consumers: every cell has a sequence number.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif

#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef CONSUMERS
#define CONSUMERS 1
#endif

enum { SIZE = 2 };

static struct {
    atomic_int sequence;
    int value;
} cells[SIZE];

static atomic_int put_at, take_at;

static int put(int value) {
    int at = atomic_load_explicit(&put_at, memory_order_relaxed);
    for (;;) {
        int ahead = atomic_load_explicit(&cells[at % SIZE].sequence, memory_order_acquire) - at;
        if (ahead < 0)
            return 0;
        if (ahead > 0)
            at = atomic_load_explicit(&put_at, memory_order_relaxed);
        else if (atomic_compare_exchange_strong_explicit(&put_at, &at, at + 1, memory_order_relaxed,
                                                         memory_order_relaxed))
            break;
    }
    cells[at % SIZE].value = value;
    atomic_store_explicit(&cells[at % SIZE].sequence, at + 1, RELEASE);
    return 1;
}

static int take(void) {
    int at = atomic_load_explicit(&take_at, memory_order_relaxed);
    for (;;) {
        int ahead = atomic_load_explicit(&cells[at % SIZE].sequence, memory_order_acquire) - at - 1;
        if (ahead < 0)
            return 0;
        if (ahead > 0)
            at = atomic_load_explicit(&take_at, memory_order_relaxed);
        else if (atomic_compare_exchange_strong_explicit(&take_at, &at, at + 1,
                                                         memory_order_relaxed,
                                                         memory_order_relaxed))
            break;
    }
    int value = cells[at % SIZE].value;
    atomic_store_explicit(&cells[at % SIZE].sequence, at + SIZE, RELEASE);
    return value;
}

static void *producer(void *argument) {
    assert(put((int)(long)argument));
    return 0;
}

static void *consumer(void *unused) { return (void *)(long)take(); }

int main(void) {
    pthread_t producers[PRODUCERS], consumers[CONSUMERS];
    int sum = 0;
    for (int i = 0; i < SIZE; i++)
        atomic_init(&cells[i].sequence, i);
    for (long i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], 0, producer, (void *)(i + 1));
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&consumers[i], 0, consumer, 0);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], 0);
    for (int i = 0; i < CONSUMERS; i++) {
        void *got;
        pthread_join(consumers[i], &got);
        sum += (int)(long)got;
    }
    for (int i = 0; i < PRODUCERS; i++)
        sum += take();
    assert(sum == PRODUCERS * (PRODUCERS + 1) / 2);
}
