// Treiber's stack. Nodes are freed at the end only, so nothing can come back meanwhile.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif

#ifndef PUSHERS
#define PUSHERS 2
#endif
#ifndef POPPERS
#define POPPERS 1
#endif

struct node {
    int value;
    struct node *next;
};

static struct node *_Atomic top;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_strong_explicit(&top, &node->next, node, RELEASE,
                                                    memory_order_relaxed))
        ;
}

static struct node *pop(void) {
    struct node *node = atomic_load_explicit(&top, memory_order_acquire);
    while (node && !atomic_compare_exchange_strong_explicit(&top, &node, node->next,
                                                            memory_order_acquire,
                                                            memory_order_acquire))
        ;
    return node;
}

static void *pusher(void *argument) {
    push((int)(long)argument);
    return 0;
}

static void *popper(void *unused) { return pop(); }

int main(void) {
    pthread_t pushers[PUSHERS], poppers[POPPERS];
    struct node *popped[POPPERS];
    int sum = 0;
    for (long i = 0; i < PUSHERS; i++)
        pthread_create(&pushers[i], 0, pusher, (void *)(i + 1));
    for (int i = 0; i < POPPERS; i++)
        pthread_create(&poppers[i], 0, popper, 0);
    for (int i = 0; i < PUSHERS; i++)
        pthread_join(pushers[i], 0);
    for (int i = 0; i < POPPERS; i++)
        pthread_join(poppers[i], (void **)&popped[i]);
    for (int i = 0; i < POPPERS; i++) {
        sum += popped[i] ? popped[i]->value : 0;
        free(popped[i]);
    }
    for (struct node *node = pop(); node; node = pop()) {
        sum += node->value;
        free(node);
    }
    assert(sum == PUSHERS * (PUSHERS + 1) / 2);
}
