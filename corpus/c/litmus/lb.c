// Load buffering: no model here has values out of thin air, so none has this either.
#include "litmus.h"

static atomic_int x, y;
static int a, b;

THREAD(first, a = LOAD(x); STORE(y, 1))
THREAD(second, b = LOAD(y); STORE(x, 1))

int main(void) {
    RUN(first, second);
    assert(a == 0 || b == 0);
}
