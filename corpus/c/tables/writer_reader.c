// One thread writes a variable N times, one reads it N times.
#include "tables.h"

#ifndef N
#define N 4
#endif

static Int x;

static void *run(void *argument) {
    for (int k = 1; k <= N; k++) {
        if (NUMBER(argument) == 0)
            SET(x, k);
        else
            GET(x);
    }
    return 0;
}

int main(void) { threads(2, run); }
