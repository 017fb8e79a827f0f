// N threads write a variable; it is read when all are done.
#include "tables.h"

#ifndef N
#define N 9
#endif

static Int x;

static void *run(void *argument) {
    SET(x, NUMBER(argument) + 1);
    return 0;
}

int main(void) {
    threads(N, run);
    GET(x);
}
