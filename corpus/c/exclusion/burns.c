// Burns' algorithm: the first thread does not give way.
#include "exclusion.h"

static atomic_int flags[2];

static void *run(void *argument) {
    int i = (int)(intptr_t)argument;
    if (i == 0) {
        STORE(flags[0], 1);
        while (LOAD(flags[1]))
            ;
    } else {
        for (;;) {
            while (LOAD(flags[0]))
                ;
            STORE(flags[1], 1);
            if (!LOAD(flags[0]))
                break;
            STORE(flags[1], 0);
        }
    }
    CRITICAL_SECTION(i);
    STORE(flags[i], 0);
    return 0;
}
