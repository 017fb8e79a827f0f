// Thread i adds one to what is before its cell; one looks for the last cell that is zero.
#include "tables.h"

#ifndef N
#define N 3
#endif

static Int cells[N + 1];

static void *run(void *argument) {
    int i = NUMBER(argument);
    if (i == 0) {
        int last = N;
        while (GET(cells[last]) != 0)
            last--;
    } else {
        SET(cells[i], GET(cells[i - 1]) + 1);
    }
    return 0;
}

int main(void) { threads(N + 1, run); }
