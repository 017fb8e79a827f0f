// Treiber's stack that frees a node once no hazard pointer protects it. BROKEN does not look again at the top.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
};

static struct node *_Atomic top, *_Atomic hazards[2];

static void push(void) {
    struct node *node = malloc(sizeof *node);
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_strong(&top, &node->next, node))
        ;
}

// The node on top, protected.
static struct node *protect(int me) {
    struct node *node = atomic_load(&top);
#ifdef BROKEN
    atomic_store(&hazards[me], node);
#else
    for (struct node *before = 0; node != before;) {
        before = node;
        atomic_store(&hazards[me], node);
        node = atomic_load(&top);
    }
#endif
    return node;
}

static void *pop(void *argument) {
    int me = (int)(long)argument;
    struct node *node, *expected;
    do {
        node = expected = protect(me);
    } while (node && !atomic_compare_exchange_strong(&top, &expected, node->next));
    atomic_store(&hazards[me], (struct node *)0);
    while (node && atomic_load(&hazards[1 - me]) == node)
        ;
    free(node);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    push();
    push();
    for (long i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, pop, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
}
