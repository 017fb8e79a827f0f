// A thread makes an object; then N threads write to it.
#include "tables.h"

#ifndef N
#define N 9
#endif

static Int object = -1, cells[1];

static void *make(void *argument) {
    SET(object, 0);
    return 0;
}

static void *run(void *argument) {
    SET(cells[GET(object)], NUMBER(argument) == 0 ? 'X' : 'Y');
    return 0;
}

int main(void) {
    threads(1, make);
    threads(N, run);
    GET(cells[GET(object)]);
}
