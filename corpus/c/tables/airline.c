// N threads sell N - 1 seats.
#include "tables.h"

#ifndef N
#define N 4
#endif

static Int sold, stop;

static void *run(void *argument) {
    if (GET(stop) == 0) {
        int seats = GET(sold);
        if (seats >= N - 1)
            SET(stop, 1);
        else
            SET(sold, seats + 1);
    }
    return 0;
}

int main(void) {
    threads(N, run);
    GET(sold);
}
