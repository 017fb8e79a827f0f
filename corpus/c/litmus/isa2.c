// ISA2: message passing over three threads.
#include "litmus.h"

static atomic_int x, y, z;

THREAD(first, STORE(x, 1); STORE(y, 1))
THREAD(second, if (LOAD(y)) STORE(z, 1))
THREAD(third, if (LOAD(z)) { int seen = LOAD(x); assert(seen == 1); (void)seen; })

int main(void) { RUN(first, second, third); }
