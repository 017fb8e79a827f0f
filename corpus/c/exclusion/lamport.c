// Lamport's fast algorithm, for two threads.
#include "exclusion.h"

static atomic_int x, y, busy[2];

static void enter(int i) {
    int me = i + 1;
    for (;;) {
        STORE(busy[i], 1);
        STORE(x, me);
        if (LOAD(y) != 0) {
            STORE(busy[i], 0);
            while (LOAD(y) != 0)
                ;
            continue;
        }
        STORE(y, me);
        if (LOAD(x) == me)
            return;
        STORE(busy[i], 0);
        while (LOAD(busy[1 - i]))
            ;
        if (LOAD(y) == me)
            return;
        while (LOAD(y) != 0)
            ;
    }
}

static void *run(void *argument) {
    int i = (int)(intptr_t)argument;
    enter(i);
    CRITICAL_SECTION(i);
    STORE(y, 0);
    STORE(busy[i], 0);
    return 0;
}
