// N threads set two variables; one checks that both are set or none.
#include "tables.h"

#ifndef N
#define N 4
#endif

static Int a, b;

static void *run(void *argument) {
    if (NUMBER(argument) < N) {
        SET(a, 1);
        SET(b, -1);
    } else {
        int fine = (GET(a) == 0 && GET(b) == 0) || (GET(a) == 1 && GET(b) == -1);
        (void)fine;
    }
    return 0;
}

int main(void) { threads(N + 1, run); }
