// N threads take what is next, and work on it.
#include "tables.h"

#ifndef N
#define N 4
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Int data[N], next;

static void *run(void *argument) {
    LOCK(mutex);
    int mine = GET(next);
    SET(next, mine + 1);
    UNLOCK(mutex);
    SET(data[mine], 1);
    assert(GET(data[mine]) == 1);
    return 0;
}

int main(void) { threads(N, run); }
