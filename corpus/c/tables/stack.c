// A thread that pushes and one that pops, N times.
#include "tables.h"

#ifndef N
#define N 3
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Int cells[N], top;

static void *run(void *argument) {
    for (int k = 0; k < N; k++) {
        LOCK(mutex);
        if (NUMBER(argument) == 0) {
            SET(cells[GET(top)], 1);
            ADD(top, 1);
        } else if (GET(top) > 0) {
            ADD(top, -1);
            GET(cells[GET(top)]);
        }
        UNLOCK(mutex);
    }
    return 0;
}

int main(void) { threads(2, run); }
