// Two threads add to each other's variable, N times.
#include "tables.h"

#ifndef N
#define N 3
#endif

static Int i = 1, j = 1;

static void *run(void *argument) {
    for (int k = 0; k < N; k++) {
        if (NUMBER(argument) == 0) {
            int other = GET(j);
            ADD(i, other);
        } else {
            int other = GET(i);
            ADD(j, other);
        }
    }
    return 0;
}

int main(void) {
    threads(2, run);
    assert(GET(i) > 0 && GET(j) > 0);
}
