// A lock that waits until it seems free before it exchanges.
#include <assert.h>
#include <stdatomic.h>

#define N 5
#include "threads.h"

static atomic_int lock;
static int data;

static void *run(void *unused) {
    do {
        while (atomic_load_explicit(&lock, memory_order_relaxed))
            ;
    } while (atomic_exchange_explicit(&lock, 1, memory_order_acquire));
    data++;
    atomic_store_explicit(&lock, 0, memory_order_release);
    return 0;
}

int main(void) {
    run_threads();
    assert(data == N);
}
