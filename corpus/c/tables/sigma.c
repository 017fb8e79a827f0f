// Each thread writes where the index points, which goes on meanwhile. Then all is summed up.
#include "tables.h"

#ifndef N
#define N 5
#endif

static Int cells[N], next = -1;

static void *run(void *argument) {
    SET(cells[GET(next)], 1);
    return 0;
}

int main(void) {
    pthread_t ids[N];
    for (int i = 0; i < N; i++) {
        ADD(next, 1);
        pthread_create(&ids[i], 0, run, 0);
    }
    for (int i = 0; i < N; i++)
        pthread_join(ids[i], 0);
    int sum = 0;
    for (int i = 0; i < N; i++)
        sum += GET(cells[i]);
}
