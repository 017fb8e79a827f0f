// A lock that looks before it tries. A thread that comes too late pauses, twice as long each time up to a limit.
#include "locks.h"
#include <sched.h>

enum { LONGEST = 4 };

static atomic_int held;

static int wait_longer(int delay) {
    for (int i = 0; i < delay; i++)
        sched_yield();
    return delay < LONGEST ? 2 * delay : LONGEST;
}

static void *run(void *argument) {
    int delay = 1;
    for (;;) {
        while (atomic_load_explicit(&held, memory_order_relaxed))
            ;
        if (!atomic_exchange_explicit(&held, 1, ACQUIRE))
            break;
        delay = wait_longer(delay);
    }
    counter++;
    atomic_store_explicit(&held, 0, RELEASE);
    return 0;
}
