// Lamport's bakery, N times. A thread that would have to wait gives up.
#include "tables.h"

#ifndef N
#define N 1
#endif

static Int tickets[2], choosing[2];

static int draw(void) {
    int first = GET(tickets[0]);
    int second = GET(tickets[1]);
    return 1 + (first > second ? first : second);
}

static void *run(void *argument) {
    int i = NUMBER(argument);
    for (int k = 0; k < N; k++) {
        SET(choosing[i], 1);
        int mine = draw();
        SET(tickets[i], mine);
        SET(choosing[i], 0);
        if (GET(choosing[1 - i]) != 0)
            break;
        int other = GET(tickets[1 - i]);
        if (other != 0 && (other < mine || (other == mine && i == 1)))
            break;
        SET(tickets[i], 0);
    }
    return 0;
}

int main(void) { threads(2, run); }
