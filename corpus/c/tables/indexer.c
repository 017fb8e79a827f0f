// Every thread puts four words into a hash table.
#include "tables.h"

#ifndef N
#define N 12
#endif

static pthread_mutex_t cell_locks[128];
static Int table[128];

static int put(int at, int word) {
    LOCK(cell_locks[at]);
    int is_free = GET(table[at]) == 0;
    if (is_free)
        SET(table[at], word);
    UNLOCK(cell_locks[at]);
    return is_free;
}

static void *run(void *argument) {
    for (int k = 1; k <= 4; k++) {
        int word = 11 * k + NUMBER(argument);
        int at = word * 7 % 128;
        while (!put(at, word))
            at = (at + 1) % 128;
    }
    return 0;
}

int main(void) {
    locks(cell_locks, 128);
    threads(N, run);
}
