// One writer, and N threads that read its variable once.
#include "tables.h"

#ifndef N
#define N 3
#endif

static Int x;

static void *run(void *argument) {
    if (NUMBER(argument) == 0)
        SET(x, 1);
    else
        GET(x);
    return 0;
}

int main(void) { threads(N + 1, run); }
