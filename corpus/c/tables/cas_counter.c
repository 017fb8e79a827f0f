// N threads count by compare-exchange; who fails tries again with what it has seen.
#include "tables.h"

#ifndef N
#define N 3
#endif

#ifndef TIMES
#define TIMES 1
#endif

static Int x;

static void *run(void *argument) {
    for (int k = 0; k < TIMES; k++) {
        int old = GET(x);
        while (!atomic_compare_exchange_strong_explicit(&x, &old, old + 1, memory_order_relaxed,
                                                        memory_order_relaxed))
            ;
    }
    return 0;
}

int main(void) { threads(N, run); }
