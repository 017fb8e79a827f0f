// The mutex of Drepper, "Futexes Are Tricky": 0 is free, 1 is held, 2 is held and awaited. NO_WAKE lets threads sleep.
#define _GNU_SOURCE
#include "locks.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;

static void *run(void *argument) {
    int seen = 0;
    if (!atomic_compare_exchange_strong_explicit(&word, &seen, 1, ACQUIRE, memory_order_relaxed)) {
        if (seen != 2)
            seen = atomic_exchange_explicit(&word, 2, ACQUIRE);
        while (seen != 0) {
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
            seen = atomic_exchange_explicit(&word, 2, ACQUIRE);
        }
    }
    counter++;
    int was = atomic_exchange_explicit(&word, 0, RELEASE);
#ifndef NO_WAKE
    if (was == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
#endif
    return 0;
}
