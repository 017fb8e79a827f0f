// A lock that looks before it tries.
#include "locks.h"

static atomic_int held;

static void *run(void *argument) {
    do {
        while (atomic_load_explicit(&held, memory_order_relaxed))
            ;
    } while (atomic_exchange_explicit(&held, 1, ACQUIRE));
    counter++;
    atomic_store_explicit(&held, 0, RELEASE);
    return 0;
}
