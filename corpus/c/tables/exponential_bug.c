// Two sections write x and, N times, y; the others look at both.
#include "tables.h"

#ifndef N
#define N 1
#endif

static Int x, y;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void first(void) {
    LOCK(mutex);
    SET(x, 1);
    for (int k = 0; k < N; k++)
        SET(y, 1);
    UNLOCK(mutex);
}

static void second(void) {
    LOCK(mutex);
    SET(x, 0);
    UNLOCK(mutex);
    if (GET(x) > 0) {
        ADD(y, 1);
        SET(x, 2);
    }
}

static void *run(void *argument) {
    for (int times = 0; times < 2; times++) {
        if (NUMBER(argument) == 0) {
            first();
        } else if (NUMBER(argument) == 1) {
            second();
        } else if (GET(x) > 1) {
            if (GET(y) == 3)
                break;
            SET(y, 2);
        }
    }
    return 0;
}

int main(void) { threads(3, run); }
