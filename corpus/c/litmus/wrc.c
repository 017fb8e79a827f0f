// Write to read causality.
#include "litmus.h"

static atomic_int x, y;

THREAD(first, STORE(x, 1))
THREAD(second, if (LOAD(x)) STORE(y, 1))
THREAD(third, if (LOAD(y)) { int seen = LOAD(x); assert(seen == 1); (void)seen; })

int main(void) { RUN(first, second, third); }
