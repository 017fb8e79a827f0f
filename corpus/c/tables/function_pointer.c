// N threads write in turn; one reads N times and does not wait.
#include "tables.h"

#ifndef N
#define N 3
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Int result;

static void put(int value) { SET(result, value); }

static void (*const function)(int) = put;

static void *run(void *argument) {
    if (NUMBER(argument) == 0) {
        for (int k = 0; k < N; k++)
            assert(GET(result) < 10);
    } else {
        LOCK(mutex);
        function(8);
        UNLOCK(mutex);
    }
    return 0;
}

int main(void) { threads(N + 1, run); }
