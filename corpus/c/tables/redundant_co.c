// Two threads write a variable N times each; a third one reads it twice.
#include "tables.h"

#ifndef N
#define N 5
#endif

static Int x;

static void *run(void *argument) {
    if (NUMBER(argument) == 2) {
        GET(x);
        GET(x);
    } else {
        for (int k = 1; k <= N; k++)
            SET(x, k);
    }
    return 0;
}

int main(void) { threads(3, run); }
