// Lamport's fast algorithm, N times. A thread that would have to wait gives up.
#include "tables.h"

#ifndef N
#define N 1
#endif

static Int x, y, flags[2];

static int enter(int i) {
    int me = i + 1;
    for (;;) {
        SET(flags[i], 1);
        SET(x, me);
        if (GET(y) != 0) {
            SET(flags[i], 0);
            if (GET(y) != 0)
                return 0;
            continue;
        }
        SET(y, me);
        if (GET(x) == me)
            return 1;
        SET(flags[i], 0);
        if (GET(flags[1 - i]) != 0)
            return 0;
        if (GET(y) == me)
            return 1;
        if (GET(y) != 0)
            return 0;
    }
}

static void *run(void *argument) {
    int i = NUMBER(argument);
    for (int k = 0; k < N && enter(i); k++) {
        SET(y, 0);
        SET(flags[i], 0);
    }
    return 0;
}

int main(void) { threads(2, run); }
