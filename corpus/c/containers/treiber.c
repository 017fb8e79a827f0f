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
    pthread_t ids[3];
    void *popped;
    pthread_create(&ids[0], 0, pusher, (void *)1);
    pthread_create(&ids[1], 0, pusher, (void *)2);
    pthread_create(&ids[2], 0, popper, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    pthread_join(ids[2], &popped);
    int sum = popped ? ((struct node *)popped)->value : 0;
    free(popped);
    for (struct node *node = pop(); node; node = pop()) {
        sum += node->value;
        free(node);
    }
    assert(sum == 3);
}
