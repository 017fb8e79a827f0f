// N threads that wait for each other: a ticket lock, a lock that is tested before it is taken, a barrier, a loop of
// compare-exchanges.
#include "threads.h"

static atomic_int next, serving, taken, arrived;
static int plain;

static void *run(void *argument) {
#if defined(TICKET)
    int ticket = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != ticket)
        ;
    plain++;
    atomic_store_explicit(&serving, ticket + 1, memory_order_release);
#elif defined(TTAS)
    do {
        while (atomic_load_explicit(&taken, memory_order_relaxed))
            ;
    } while (atomic_exchange_explicit(&taken, 1, memory_order_acquire));
    plain++;
    atomic_store_explicit(&taken, 0, memory_order_release);
#elif defined(BARRIER)
    atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&arrived, memory_order_acquire) != N)
        ;
#endif
    return 0;
}

int main(void) {
    threads(run);
#if !defined(BARRIER)
    assert(plain == N);
#endif
}
