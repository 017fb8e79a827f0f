// Two threads hand a flag to each other N times, with latches. A thread looks N + 2 times.
#include "tables.h"

#ifndef N
#define N 2
#endif

static Int latch[2] = {1, 0}, flag[2] = {1, 0};

static int look(int i) {
    for (int k = 0; k < N + 2; k++) {
        if (GET(latch[i]) == 1)
            return 1;
    }
    return 0;
}

static void *run(void *argument) {
    int i = NUMBER(argument);
    for (int k = 0; k < N && look(i); k++) {
        int fine = GET(latch[i]) == 0 || GET(flag[i]) == 1;
        (void)fine;
        SET(latch[i], 0);
        if (GET(flag[i]) == 1) {
            SET(flag[i], 0);
            SET(flag[1 - i], 1);
            SET(latch[1 - i], 1);
        }
    }
    return 0;
}

int main(void) { threads(2, run); }
