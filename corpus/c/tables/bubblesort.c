// N threads run through an array once and exchange neighbours that are in the wrong order.
#include "tables.h"

#ifndef N
#define N 2
#endif

static Int cells[N];

static void *run(void *argument) {
    for (int i = 0; i < N - 1; i++) {
        int left = GET(cells[i]);
        int right = GET(cells[i + 1]);
        if (left > right) {
            SET(cells[i], right);
            SET(cells[i + 1], left);
        }
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < N; i++)
        SET(cells[i], N - i);
    threads(N, run);
    for (int i = 0; i < N - 1; i++) {
        GET(cells[i + 1]);
        GET(cells[i]);
    }
}
