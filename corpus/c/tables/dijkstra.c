// Dijkstra's algorithm, N times. A thread looks twice whether it is its turn.
#include "tables.h"

#ifndef N
#define N 1
#endif

static Int interested[2], passed[2], turn;

static int is_mine(int i) {
    int mine = GET(turn) == i;
    if (!mine && GET(interested[1 - i]) == 0)
        SET(turn, i);
    return mine;
}

static void *run(void *argument) {
    int i = NUMBER(argument);
    for (int k = 0; k < N; k++) {
        SET(interested[i], 1);
        if (!is_mine(i) && !is_mine(i))
            break;
        SET(passed[i], 1);
        if (GET(passed[1 - i]) != 0)
            break;
        SET(passed[i], 0);
        SET(interested[i], 0);
    }
    return 0;
}

int main(void) { threads(2, run); }
