// A spin lock whose threads sleep longer and longer. Sleeping is nothing but waiting.
#include "locks.h"
#include <sched.h>
#include <unistd.h>

static atomic_int held;

static void *run(void *argument) {
    int expected = 0;
    while (!atomic_compare_exchange_weak_explicit(&held, &expected, 1, ACQUIRE,
                                                  memory_order_relaxed)) {
        expected = 0;
        sched_yield();
        usleep(10);
    }
    counter++;
    atomic_store_explicit(&held, 0, RELEASE);
    return 0;
}
