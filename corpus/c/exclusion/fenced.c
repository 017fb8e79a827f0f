// Peterson's algorithm with one fence, between the stores and the loads: enough for TSO, not for PSO.
#include "exclusion.h"

static atomic_int interested[2], turn;

static void *run(void *argument) {
    int i = (int)(intptr_t)argument;
    atomic_store_explicit(&interested[i], 1, memory_order_relaxed);
#ifdef TWO
    atomic_thread_fence(memory_order_seq_cst);
#endif
    atomic_store_explicit(&turn, 1 - i, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    while (LOAD(interested[1 - i]) && LOAD(turn) != i)
        ;
    CRITICAL_SECTION(i);
    STORE(interested[i], 0);
    return 0;
}
