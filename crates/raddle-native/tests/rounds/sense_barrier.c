// A sense-reversing barrier.
#include <stdatomic.h>

#define N 6
#include "threads.h"

static atomic_int count = N, sense;

static void *run(void *unused) {
    if (atomic_fetch_sub(&count, 1) == 1) {
        atomic_store(&count, N);
        atomic_store(&sense, 1);
    } else {
        while (!atomic_load(&sense))
            ;
    }
    return 0;
}

int main(void) {
    run_threads();
}
