// Kessels' algorithm, N times. Both bits of a thread are in one variable, which is read at once.
#include "tables.h"

#ifndef N
#define N 2
#endif

static Int bits[2];

static void *run(void *argument) {
    int i = NUMBER(argument), mine = 0;
    for (int k = 0; k < N; k++) {
        SET(bits[i], 2 + mine);
        mine = (GET(bits[1 - i]) + i) % 2;
        SET(bits[i], 2 + mine);
        int other = GET(bits[1 - i]);
        if (other >= 2 && mine == (other + i) % 2)
            break;
        SET(bits[i], mine);
    }
    return 0;
}

int main(void) { threads(2, run); }
