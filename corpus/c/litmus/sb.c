// Store buffering.
#include "litmus.h"

static atomic_int x, y;
static int a, b;

THREAD(first, STORE(x, 1); a = LOAD(y))
THREAD(second, STORE(y, 1); b = LOAD(x))

int main(void) {
    RUN(first, second);
    assert(a == 1 || b == 1);
}
