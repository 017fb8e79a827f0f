// N threads write a variable and one reads it.
#include "tables.h"

#ifndef N
#define N 7
#endif

static Int x;

static void *run(void *argument) {
    int i = NUMBER(argument);
    if (i == N)
        GET(x);
    else
        SET(x, i + 1);
    return 0;
}

int main(void) { threads(N + 1, run); }
