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
    pthread_t ids[3];
    void *got;
    struct node *dummy = make(0);
    atomic_init(&head, dummy);
    atomic_init(&tail, dummy);
    pthread_create(&ids[0], 0, producer, (void *)1);
    pthread_create(&ids[1], 0, producer, (void *)2);
    pthread_create(&ids[2], 0, consumer, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    pthread_join(ids[2], &got);
    assert((int)(long)got + dequeue() + dequeue() == 3);
    assert(dequeue() == 0);
}
