// Peterson's algorithm.
#include "exclusion.h"

static atomic_int interested[2], turn;

static void *run(void *argument) {
    int i = (int)(intptr_t)argument;
    STORE(interested[i], 1);
    STORE(turn, 1 - i);
    while (LOAD(interested[1 - i]) && LOAD(turn) != i)
        ;
    CRITICAL_SECTION(i);
    STORE(interested[i], 0);
    return 0;
}
