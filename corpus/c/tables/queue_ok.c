// N threads that fill a queue and one that empties it, if it is their turn.
#include "tables.h"

#ifndef N
#define N 3
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Int fill = 1, queue[4];

static void *run(void *argument) {
    int i = NUMBER(argument);
    LOCK(mutex);
    if (i == N && GET(fill) == 0) {
        for (int k = 0; k < 4; k++)
            assert(GET(queue[k]) != 0);
        SET(fill, 1);
    } else if (i < N && GET(fill) == 1) {
        for (int k = 0; k < 4; k++)
            SET(queue[k], i + 1);
        SET(fill, 0);
    }
    UNLOCK(mutex);
    return 0;
}

int main(void) { threads(N + 1, run); }
