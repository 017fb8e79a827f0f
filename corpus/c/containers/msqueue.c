// The queue of Michael and Scott, PODC 1996, without reclamation.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif
#define ACQUIRE memory_order_acquire

#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef CONSUMERS
#define CONSUMERS 1
#endif

struct node {
    int value;
    struct node *_Atomic next;
};

static struct node *_Atomic head, *_Atomic tail;

static struct node *make(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    atomic_init(&node->next, (struct node *)0);
    return node;
}

static void enqueue(int value) {
    struct node *node = make(value);
    for (;;) {
        struct node *last = atomic_load_explicit(&tail, ACQUIRE);
        struct node *next = atomic_load_explicit(&last->next, ACQUIRE);
        if (next) {
            atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_release,
                                                    memory_order_relaxed);
        } else if (atomic_compare_exchange_strong_explicit(&last->next, &next, node, RELEASE,
                                                           memory_order_relaxed)) {
            atomic_compare_exchange_strong_explicit(&tail, &last, node, RELEASE,
                                                    memory_order_relaxed);
            return;
        }
    }
}

static int dequeue(void) {
    for (;;) {
        struct node *first = atomic_load_explicit(&head, ACQUIRE);
        struct node *next = atomic_load_explicit(&first->next, ACQUIRE);
        if (!next)
            return 0;
        if (atomic_compare_exchange_strong_explicit(&head, &first, next, memory_order_release,
                                                    memory_order_relaxed))
            return next->value;
    }
}

static void *producer(void *argument) {
    enqueue((int)(long)argument);
    return 0;
}

static void *consumer(void *unused) { return (void *)(long)dequeue(); }

int main(void) {
    pthread_t producers[PRODUCERS], consumers[CONSUMERS];
    int sum = 0;
    struct node *dummy = make(0);
    atomic_init(&head, dummy);
    atomic_init(&tail, dummy);
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
        sum += dequeue();
    assert(sum == PRODUCERS * (PRODUCERS + 1) / 2);
    assert(dequeue() == 0);
}
