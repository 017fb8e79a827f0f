// N threads add to a variable.
#include "tables.h"

#ifndef N
#define N 4
#endif

static Int x;

static void *run(void *argument) {
    ADD(x, 1);
    return 0;
}

int main(void) { threads(N, run); }
