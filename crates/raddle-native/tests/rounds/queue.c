// The queue of Michael and Scott, with two threads that enqueue and two that dequeue.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    atomic_int value;
    _Atomic(struct node *) next;
};

static _Atomic(struct node *) head, tail;

static void enqueue(int value) {
    struct node *node = malloc(sizeof *node);
    atomic_init(&node->value, value);
    atomic_init(&node->next, NULL);
    for (;;) {
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
        if (last != atomic_load_explicit(&tail, memory_order_acquire))
            continue;
        if (next) {
            atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_acq_rel, memory_order_acquire);
        } else if (atomic_compare_exchange_strong_explicit(&last->next, &next, node, memory_order_acq_rel,
                                                           memory_order_acquire)) {
            atomic_compare_exchange_strong_explicit(&tail, &last, node, memory_order_acq_rel, memory_order_acquire);
            return;
        }
    }
}

static int dequeue(int *value) {
    for (;;) {
        struct node *first = atomic_load_explicit(&head, memory_order_acquire);
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&first->next, memory_order_acquire);
        if (first != atomic_load_explicit(&head, memory_order_acquire))
            continue;
        if (first != last) {
            *value = atomic_load_explicit(&next->value, memory_order_relaxed);
            if (atomic_compare_exchange_strong_explicit(&head, &first, next, memory_order_acq_rel, memory_order_acquire))
                return 1;
        } else if (!next) {
            return 0;
        } else {
            atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_acq_rel, memory_order_acquire);
        }
    }
}

static void *writer(void *unused) {
    enqueue(666);
    return unused;
}

static void *reader(void *unused) {
    int value;
    if (dequeue(&value))
        assert(value == 666);
    return unused;
}

int main(void) {
    struct node *dummy = malloc(sizeof *dummy);
    atomic_init(&dummy->value, 0);
    atomic_init(&dummy->next, NULL);
    atomic_init(&head, dummy);
    atomic_init(&tail, dummy);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i < 2 ? writer : reader, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
