// Independent reads of independent writes.
#include "litmus.h"

static atomic_int x, y;
static int a, b, c, d;

THREAD(write_x, STORE(x, 1))
THREAD(write_y, STORE(y, 1))
THREAD(first, a = LOAD(x); b = LOAD(y))
THREAD(second, c = LOAD(y); d = LOAD(x))

int main(void) {
    RUN(write_x, write_y, first, second);
    assert(!(a == 1 && b == 0 && c == 1 && d == 0));
}
