// Two threads cross out multiples of the numbers below N that are not crossed out.
#include "tables.h"

#ifndef N
#define N 9
#endif

static Int crossed[N];

static void *run(void *argument) {
    for (int i = 2; i < N; i++) {
        if (GET(crossed[i]) != 0)
            continue;
        for (int multiple = 2 * i; multiple < N; multiple += i)
            SET(crossed[multiple], 1);
    }
    return 0;
}

int main(void) { threads(2, run); }
