// A ring for one producer and one consumer, each of which keeps the last known index of the other one.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SLOTS 2
#define ITEMS 3

static struct {
    atomic_uint head;
    unsigned known_tail;
} producer;
static struct {
    atomic_uint tail;
    unsigned known_head;
} consumer;
static int slots[SLOTS];

static void *produce(void *unused) {
    for (int item = 1; item <= ITEMS; item++) {
        unsigned head = atomic_load_explicit(&producer.head, memory_order_relaxed);
        while (head - producer.known_tail == SLOTS)
            producer.known_tail = atomic_load_explicit(&consumer.tail, memory_order_acquire);
        slots[head % SLOTS] = item;
        atomic_store_explicit(&producer.head, head + 1, memory_order_release);
    }
    return unused;
}

static void *consume(void *unused) {
    for (int item = 1; item <= ITEMS; item++) {
        unsigned tail = atomic_load_explicit(&consumer.tail, memory_order_relaxed);
        while (tail == consumer.known_head)
            consumer.known_head = atomic_load_explicit(&producer.head, memory_order_acquire);
        assert(slots[tail % SLOTS] == item);
        atomic_store_explicit(&consumer.tail, tail + 1, memory_order_release);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, produce, NULL);
    pthread_create(&threads[1], NULL, consume, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
