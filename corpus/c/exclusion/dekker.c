// Dekker's algorithm.
#include "exclusion.h"

static atomic_int interested[2], turn;

static void *run(void *argument) {
    int i = (int)(intptr_t)argument;
    STORE(interested[i], 1);
    while (LOAD(interested[1 - i])) {
        if (LOAD(turn) == i)
            continue;
        STORE(interested[i], 0);
        while (LOAD(turn) != i)
            ;
        STORE(interested[i], 1);
    }
    CRITICAL_SECTION(i);
    STORE(turn, 1 - i);
    STORE(interested[i], 0);
    return 0;
}
