// S: a store comes after what was seen, and yet is overtaken.
#include "litmus.h"

static atomic_int x, y;
static int a;

THREAD(first, STORE(x, 2); STORE(y, 1))
THREAD(second, a = LOAD(y); STORE(x, 1))

int main(void) {
    RUN(first, second);
    int b = LOAD(x);
    assert(a == 0 || b == 1);
    (void)b;
}
