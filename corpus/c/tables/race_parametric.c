// Two threads write a variable and read it, N times.
#include "tables.h"

#ifndef N
#define N 3
#endif

static Int x;

static void *run(void *argument) {
    for (int k = 0; k < N; k++) {
        SET(x, NUMBER(argument));
        GET(x);
    }
    return 0;
}

int main(void) { threads(2, run); }
