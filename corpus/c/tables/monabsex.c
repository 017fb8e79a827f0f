// N threads write a variable and read it.
#include "tables.h"

#ifndef N
#define N 5
#endif

static Int x;

static void *run(void *argument) {
    SET(x, 4);
    GET(x);
    return 0;
}

int main(void) { threads(N, run); }
