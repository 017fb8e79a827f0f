// Dekker's algorithm, N times. A thread that would have to wait gives up.
#include "tables.h"

#ifndef N
#define N 1
#endif

static Int flags[2], turn;

static int enter(int i) {
    SET(flags[i], 1);
    if (GET(flags[1 - i]) == 0)
        return 1;
    if (GET(turn) == i)
        return 0;
    SET(flags[i], 0);
    if (GET(turn) != i)
        return 0;
    SET(flags[i], 1);
    return GET(flags[1 - i]) == 0;
}

static void *run(void *argument) {
    int i = NUMBER(argument);
    for (int k = 0; k < N && enter(i); k++) {
        SET(turn, 1 - i);
        SET(flags[i], 0);
    }
    return 0;
}

int main(void) { threads(2, run); }
