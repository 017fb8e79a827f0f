// Treiber's stack: N threads push a node of their own, and M others pop one, if there is one at the first attempt.
#include "threads.h"

#ifndef M
#define M 0
#endif

struct node {
    struct node *_Atomic next;
};

static struct node *_Atomic top;

static void *push(void *argument) {
    struct node *node = malloc(sizeof *node);
    struct node *old = atomic_load(&top);
    atomic_store_explicit(&node->next, old, memory_order_relaxed);
#ifdef ONCE
    atomic_compare_exchange_strong(&top, &old, node);
#else
    while (!atomic_compare_exchange_strong(&top, &old, node))
        atomic_store_explicit(&node->next, old, memory_order_relaxed);
#endif
    return 0;
}

static void *pop(void *argument) {
    struct node *old = atomic_load(&top);
    if (old)
        atomic_compare_exchange_strong(&top, &old, atomic_load(&old->next));
    return 0;
}

int main(void) {
    pthread_t all[N + M];
    for (int i = 0; i < N + M; i++)
        pthread_create(&all[i], 0, i < N ? push : pop, 0);
    for (int i = 0; i < N + M; i++)
        pthread_join(all[i], 0);
}
