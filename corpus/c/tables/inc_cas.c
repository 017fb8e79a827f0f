// N threads count with a compare-exchange, and look that it went on.
#include "tables.h"

#ifndef N
#define N 2
#endif

static Int x;

static void *run(void *argument) {
    for (;;) {
        int old = GET(x), seen = old;
        if (atomic_compare_exchange_strong_explicit(&x, &seen, old + 1, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            assert(GET(x) > old);
            return 0;
        }
    }
}

int main(void) { threads(N, run); }
