// Two threads add to a variable, N times; it is read when they are done.
#include "tables.h"

#ifndef N
#define N 3
#endif

static Int x;

static void *run(void *argument) {
    for (int k = 0; k < N; k++)
        ADD(x, 1);
    return 0;
}

int main(void) {
    threads(2, run);
    GET(x);
}
