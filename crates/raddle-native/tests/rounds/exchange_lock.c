// A lock that exchanges until it was free, taken twice by each thread.
#include <assert.h>
#include <stdatomic.h>

#define N 3
#include "threads.h"

static atomic_int lock;
static int data;

static void *run(void *unused) {
    for (int i = 0; i < 2; i++) {
        while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
            ;
        data++;
        atomic_store_explicit(&lock, 0, memory_order_release);
    }
    return 0;
}

int main(void) {
    run_threads();
    assert(data == 2 * N);
}
