// N writers count a sequence number; a reader reads it twice.
#include "tables.h"

#ifndef N
#define N 3
#endif

static Int sequence;

static void *run(void *argument) {
    if (NUMBER(argument) == N) {
        GET(sequence);
        GET(sequence);
    } else {
        atomic_fetch_add_explicit(&sequence, 2, memory_order_relaxed);
    }
    return 0;
}

int main(void) { threads(N + 1, run); }
