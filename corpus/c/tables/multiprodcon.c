// Producers build a number together and give work to one worker each; workers look twice.
#include "tables.h"

#ifndef N
#define N 2
#endif

static pthread_mutex_t line = PTHREAD_MUTEX_INITIALIZER, desks[N];
static Int number, wanted[N], done[N];

static void work(int i) {
    for (int k = 0; k < 2; k++) {
        LOCK(desks[i]);
        int some = GET(wanted[i]) > 0;
        if (some)
            ADD(wanted[i], -1);
        UNLOCK(desks[i]);
        if (some)
            ADD(done[i], 1);
    }
}

static void produce(int i) {
    LOCK(line);
    SET(number, GET(number) * N + i);
    int worker = GET(number) % N;
    UNLOCK(line);
    LOCK(desks[worker]);
    ADD(wanted[worker], 1);
    UNLOCK(desks[worker]);
}

static void *run(void *argument) {
    int i = NUMBER(argument);
    if (i < N)
        work(i);
    else
        produce(i - N);
    return 0;
}

int main(void) {
    locks(desks, N);
    threads(2 * N, run);
}
