// A ticket lock: the ticket decides when a thread may enter.
#include <assert.h>
#include <stdatomic.h>

#define N 5
#include "threads.h"

static atomic_int next, serving;
static int data;

static void *run(void *unused) {
    int ticket = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != ticket)
        ;
    data++;
    atomic_store_explicit(&serving, ticket + 1, memory_order_release);
    return 0;
}

int main(void) {
    run_threads();
    assert(data == N);
}
