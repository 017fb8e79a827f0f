// A bounded queue for many producers and consumers. Each takes a ticket and waits for the turn of its cell.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif

#ifndef PAIRS
#define PAIRS 2
#endif

#ifndef SIZE
#define SIZE 1
#endif

static struct {
    atomic_int turn;
    int value;
} cells[SIZE];

static atomic_int put_at, take_at;

static void put(int value) {
    int ticket = atomic_fetch_add_explicit(&put_at, 1, memory_order_relaxed);
    int cell = ticket % SIZE, turn = 2 * (ticket / SIZE);
    while (atomic_load_explicit(&cells[cell].turn, memory_order_acquire) != turn)
        ;
    cells[cell].value = value;
    atomic_store_explicit(&cells[cell].turn, turn + 1, RELEASE);
}

static int take(void) {
    int ticket = atomic_fetch_add_explicit(&take_at, 1, memory_order_relaxed);
    int cell = ticket % SIZE, turn = 2 * (ticket / SIZE) + 1;
    while (atomic_load_explicit(&cells[cell].turn, memory_order_acquire) != turn)
        ;
    int value = cells[cell].value;
    atomic_store_explicit(&cells[cell].turn, turn + 1, RELEASE);
    return value;
}

static void *producer(void *argument) {
    put((int)(long)argument);
    return 0;
}

static void *consumer(void *unused) { return (void *)(long)take(); }

int main(void) {
    pthread_t producers[PAIRS], consumers[PAIRS];
    int sum = 0;
    for (long i = 0; i < PAIRS; i++) {
        pthread_create(&producers[i], 0, producer, (void *)(i + 1));
        pthread_create(&consumers[i], 0, consumer, 0);
    }
    for (int i = 0; i < PAIRS; i++) {
        void *value;
        pthread_join(producers[i], 0);
        pthread_join(consumers[i], &value);
        sum += (int)(long)value;
    }
    assert(sum == PAIRS * (PAIRS + 1) / 2);
}
