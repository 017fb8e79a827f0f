// Two flags and no waiting: who sees the other one's flag stays out.
#include "exclusion.h"

static atomic_int flags[2];

static void *run(void *argument) {
    int i = (int)(intptr_t)argument;
    STORE(flags[i], 1);
    if (!LOAD(flags[1 - i]))
        CRITICAL_SECTION(i);
    return 0;
}
