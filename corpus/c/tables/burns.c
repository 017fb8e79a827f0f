// Burns' algorithm, N times. A thread that would have to wait gives up.
#include "tables.h"

#ifndef N
#define N 1
#endif

static Int flags[2];

static void *run(void *argument) {
    int i = NUMBER(argument);
    for (int k = 0; k < N; k++) {
        SET(flags[i], 0);
        if (i == 1 && GET(flags[0]) != 0)
            break;
        SET(flags[i], 1);
        if (GET(flags[1 - i]) != 0)
            break;
        SET(flags[i], 0);
    }
    return 0;
}

int main(void) { threads(2, run); }
