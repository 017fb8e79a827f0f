// A thread that sends and one that receives, each N times if it is its turn.
#include "tables.h"

#ifndef N
#define N 3
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Int buffer[N], turn, next, first;

static void *run(void *argument) {
    int who = NUMBER(argument);
    for (int k = 0; k < N; k++) {
        LOCK(mutex);
        if (GET(turn) == who) {
            if (who == 0) {
                SET(buffer[GET(next)], 1);
                ADD(next, 1);
            } else {
                GET(buffer[GET(first)]);
                ADD(first, 1);
            }
            SET(turn, 1 - who);
        }
        UNLOCK(mutex);
    }
    return 0;
}

int main(void) { threads(2, run); }
