// Kessels' algorithm: Peterson's, in which each variable has one writer.
#include "exclusion.h"

static atomic_int interested[2], turn[2];

static void *run(void *argument) {
    int i = (int)(intptr_t)argument;
    STORE(interested[i], 1);
    int mine = (LOAD(turn[1 - i]) + i) % 2;
    STORE(turn[i], mine);
    while (LOAD(interested[1 - i]) && mine == (LOAD(turn[1 - i]) + i) % 2)
        ;
    CRITICAL_SECTION(i);
    STORE(interested[i], 0);
    return 0;
}
