// Treiber's stack that frees a node as soon as it was popped: another thread may still look at it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
};

static struct node *_Atomic top;

static void push(void) {
    struct node *node = malloc(sizeof *node);
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_strong(&top, &node->next, node))
        ;
}

static void *pop(void *unused) {
    struct node *node = atomic_load(&top);
    while (node && !atomic_compare_exchange_strong(&top, &node, node->next))
        ;
    free(node);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    push();
    push();
    pthread_create(&ids[0], 0, pop, 0);
    pthread_create(&ids[1], 0, pop, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
}
