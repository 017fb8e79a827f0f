// A lock whose threads try SPINS times before they let others run.
#include "locks.h"
#include <sched.h>

#ifndef SPINS
#define SPINS 2
#endif

static atomic_int held;

static void *run(void *argument) {
    int tries = 0;
    while (atomic_exchange_explicit(&held, 1, ACQUIRE)) {
        if (++tries == SPINS) {
            sched_yield();
            tries = 0;
        }
    }
    counter++;
    atomic_store_explicit(&held, 0, RELEASE);
    return 0;
}
