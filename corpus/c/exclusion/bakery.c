// Lamport's bakery, for two threads.
#include "exclusion.h"

static atomic_int choosing[2], tickets[2];

static void *run(void *argument) {
    int i = (int)(intptr_t)argument;
    STORE(choosing[i], 1);
    int mine = 1 + LOAD(tickets[1 - i]);
    STORE(tickets[i], mine);
    STORE(choosing[i], 0);
    while (LOAD(choosing[1 - i]))
        ;
    for (;;) {
        int other = LOAD(tickets[1 - i]);
        if (other == 0 || other > mine || (other == mine && i == 0))
            break;
    }
    CRITICAL_SECTION(i);
    STORE(tickets[i], 0);
    return 0;
}
