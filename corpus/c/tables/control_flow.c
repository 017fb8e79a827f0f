// N readers of x, N writers of y, and two threads in which a write depends on what was read.
#include "tables.h"

#ifndef N
#define N 3
#endif

static Int x, y, z;

static void *run(void *argument) {
    int i = NUMBER(argument);
    if (i == 2 * N) {
        if (GET(y) == 0)
            SET(z, 1);
    } else if (i == 2 * N + 1) {
        if (GET(z) == 1 && GET(y) == 0)
            SET(x, 1);
    } else if (i % 2 == 0) {
        GET(x);
    } else {
        SET(y, 1);
    }
    return 0;
}

int main(void) { threads(2 * N + 2, run); }
