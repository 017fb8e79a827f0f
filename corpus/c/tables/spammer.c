// Every thread writes to all others, and then looks what was written to it.
#include "tables.h"

#ifndef N
#define N 4
#endif

static Int inbox[N];

static void *run(void *argument) {
    int i = NUMBER(argument);
    for (int other = 0; other < N; other++) {
        if (other != i)
            SET(inbox[other], i + 1);
    }
    GET(inbox[i]);
    return 0;
}

int main(void) { threads(N, run); }
