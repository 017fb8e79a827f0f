// A stack of nodes that are used again, in an array: the top is the one it was, what is below is not.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { NONE = -1 };

static atomic_int top = 0, next[3] = {1, 2, NONE};

static int pop(void) {
    int node = atomic_load(&top);
    while (node != NONE && !atomic_compare_exchange_strong(&top, &node, atomic_load(&next[node])))
        ;
    return node;
}

static void push(int node) {
    int old = atomic_load(&top);
    do
        atomic_store(&next[node], old);
    while (!atomic_compare_exchange_strong(&top, &old, node));
}

static atomic_int taken[3];

static void take(int node) {
    if (node != NONE)
        assert(atomic_exchange(&taken[node], 1) == 0);
}

static void *first(void *unused) {
    take(pop());
    take(pop());
    return 0;
}

static void *second(void *unused) {
    int a = pop();
    int b = pop();
    if (b != NONE)
        take(b);
    if (a != NONE)
        push(a);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, first, 0);
    pthread_create(&ids[1], 0, second, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
}
