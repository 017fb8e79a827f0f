// Szymanski's algorithm, N times. A thread that would have to wait gives up.
#include "tables.h"

#ifndef N
#define N 1
#endif

static Int flags[2];

static int enter(int i) {
    SET(flags[i], 1);
    if (GET(flags[1 - i]) >= 3)
        return 0;
    SET(flags[i], 3);
    if (GET(flags[1 - i]) == 1) {
        SET(flags[i], 2);
        if (GET(flags[1 - i]) != 4)
            return 0;
    }
    SET(flags[i], 4);
    return GET(flags[1 - i]) < 2;
}

static void *run(void *argument) {
    int i = NUMBER(argument);
    for (int k = 0; k < N && enter(i); k++) {
        if (GET(flags[1 - i]) >= 2 && GET(flags[1 - i]) <= 3)
            break;
        SET(flags[i], 0);
    }
    return 0;
}

int main(void) { threads(2, run); }
