// R: a store is overtaken, and then a load comes too early.
#include "litmus.h"

static atomic_int x, y;
static int a;

THREAD(first, STORE(x, 1); STORE(y, 1))
THREAD(second, STORE(y, 2); a = LOAD(x))

int main(void) {
    RUN(first, second);
    int b = LOAD(y);
    assert(b == 1 || a == 1);
    (void)b;
}
