// A ticket lock.
#include "locks.h"

static atomic_uint next_ticket, now_serving;

static void *run(void *argument) {
    unsigned mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
    while (atomic_load_explicit(&now_serving, ACQUIRE) != mine)
        ;
    counter++;
    atomic_store_explicit(&now_serving, mine + 1, RELEASE);
    return 0;
}
