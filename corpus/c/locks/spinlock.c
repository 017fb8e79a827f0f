// A spin lock made of a flag.
#include "locks.h"

static atomic_flag held = ATOMIC_FLAG_INIT;

static void *run(void *argument) {
    while (atomic_flag_test_and_set_explicit(&held, ACQUIRE))
        ;
    counter++;
    atomic_flag_clear_explicit(&held, RELEASE);
    return 0;
}
