// The lock of Mellor-Crummey and Scott: every thread spins on its own node.
#include "locks.h"

struct node {
    struct node *_Atomic next;
    atomic_int waits;
};

static struct node *_Atomic tail;

static void lock(struct node *mine) {
    atomic_store_explicit(&mine->next, (struct node *)0, memory_order_relaxed);
    atomic_store_explicit(&mine->waits, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, mine, memory_order_acq_rel);
    if (before) {
        atomic_store_explicit(&before->next, mine, memory_order_release);
        while (atomic_load_explicit(&mine->waits, ACQUIRE))
            ;
    }
}

static void unlock(struct node *mine) {
    struct node *after = atomic_load_explicit(&mine->next, memory_order_acquire);
    if (!after) {
        struct node *last = mine;
        if (atomic_compare_exchange_strong_explicit(&tail, &last, (struct node *)0,
                                                    memory_order_release, memory_order_relaxed))
            return;
        do {
            after = atomic_load_explicit(&mine->next, memory_order_acquire);
        } while (!after);
    }
    atomic_store_explicit(&after->waits, 0, RELEASE);
}

static void *run(void *argument) {
    struct node mine;
    lock(&mine);
    counter++;
    unlock(&mine);
    return 0;
}
