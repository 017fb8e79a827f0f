// N deposits and a withdrawal; the balance is read when all are done.
#include "tables.h"

#ifndef N
#define N 3
#endif

static Int balance = 1000;

static void *run(void *argument) {
    ADD(balance, NUMBER(argument) == N ? -10 : 100);
    return 0;
}

int main(void) {
    threads(N + 1, run);
    GET(balance);
}
