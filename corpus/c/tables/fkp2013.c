// N threads add to a variable, and one reads it.
#include "tables.h"

#ifndef N
#define N 3
#endif

static Int x;

static void *run(void *argument) {
    if (NUMBER(argument) == 0)
        GET(x);
    else
        ADD(x, 1);
    return 0;
}

int main(void) { threads(N + 1, run); }
