// 2+2W: both variables end with their first writes.
#include "litmus.h"

static atomic_int x, y;

THREAD(first, STORE(x, 1); STORE(y, 2))
THREAD(second, STORE(y, 1); STORE(x, 2))

int main(void) {
    RUN(first, second);
    int a = LOAD(x), b = LOAD(y);
    assert(a == 2 || b == 2);
    (void)a, (void)b;
}
