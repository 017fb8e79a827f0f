// Szymanski's algorithm, for two threads.
#include "exclusion.h"

static atomic_int flags[2];

static void *run(void *argument) {
    int i = (int)(intptr_t)argument;
    STORE(flags[i], 1);
    while (LOAD(flags[1 - i]) >= 3)
        ;
    STORE(flags[i], 3);
    if (LOAD(flags[1 - i]) == 1) {
        STORE(flags[i], 2);
        while (LOAD(flags[1 - i]) != 4)
            ;
    }
    STORE(flags[i], 4);
    if (i == 1) {
        while (LOAD(flags[0]) >= 2)
            ;
    }
    CRITICAL_SECTION(i);
    if (i == 0) {
        for (;;) {
            int other = LOAD(flags[1]);
            if (other != 2 && other != 3)
                break;
        }
    }
    STORE(flags[i], 0);
    return 0;
}
