// Peterson's algorithm, N times. A thread that would have to wait gives up.
#include "tables.h"

#ifndef N
#define N 2
#endif

static Int flags[2], turn;

static void *run(void *argument) {
    int i = NUMBER(argument);
    for (int k = 0; k < N; k++) {
        SET(flags[i], 1);
        SET(turn, 1 - i);
        if (GET(flags[1 - i]) == 1 && GET(turn) != i)
            break;
        SET(flags[i], 0);
    }
    return 0;
}

int main(void) { threads(2, run); }
