// The lock of Craig, Landin and Hagersten: every thread spins on the node of the one before it.
#include "locks.h"

struct node {
    atomic_int held;
};

static struct node nodes[THREADS + 1];
static struct node *_Atomic tail = &nodes[THREADS];

static void *run(void *argument) {
    struct node *mine = &nodes[(long)argument];
    atomic_store_explicit(&mine->held, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, mine, memory_order_acq_rel);
    while (atomic_load_explicit(&before->held, ACQUIRE))
        ;
    counter++;
    atomic_store_explicit(&mine->held, 0, RELEASE);
    return 0;
}
