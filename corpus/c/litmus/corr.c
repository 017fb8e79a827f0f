// Coherence: two reads do not go back.
#include "litmus.h"

static atomic_int x;
static int a, b;

THREAD(writer, STORE(x, 1); STORE(x, 2))
THREAD(reader, a = LOAD(x); b = LOAD(x))

int main(void) {
    RUN(writer, reader);
    assert(a <= b);
}
