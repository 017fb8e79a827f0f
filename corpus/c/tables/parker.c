// A bug of a Java virtual machine: a thread parks at most N times, another one wakes it up twice.
#include "tables.h"

#ifndef N
#define N 1
#endif

extern void __VERIFIER_assume(int);

static Int done, finished, x, y, permit, waiting;

// They lock with two flags and a fence, as in Dekker's algorithm.
#define RAISE(flag) (SET(flag, 1), atomic_thread_fence(memory_order_seq_cst))

static void park(void) {
    if (GET(permit) > 0) {
        SET(permit, 0);
        return;
    }
    RAISE(x);
    if (GET(y) != 0) {
        SET(x, 0);
        return;
    }
    if (GET(permit) <= 0) {
        SET(waiting, 1);
        SET(x, 0);
        int woken = GET(finished) == 0 || GET(waiting) == 0;
        (void)woken;
        __VERIFIER_assume(GET(waiting) == 0);
        RAISE(x);
        __VERIFIER_assume(GET(y) == 0);
    }
    SET(permit, 0);
    SET(x, 0);
}

static void unpark(void) {
    RAISE(y);
    __VERIFIER_assume(GET(x) == 0);
    int before = GET(permit);
    SET(permit, 1);
    SET(y, 0);
    if (before < 1)
        SET(waiting, 0);
}

static void *run(void *argument) {
    if (NUMBER(argument) == 0) {
        for (int times = 0; GET(done) == 0; times++) {
            __VERIFIER_assume(times < N);
            park();
        }
    } else {
        unpark();
        SET(done, 1);
        unpark();
        SET(finished, 1);
    }
    return 0;
}

int main(void) { threads(2, run); }
