// Any value of a small range: all of them are tried.
#include <assert.h>

#ifndef N
#define N 3
#endif

extern _Bool __VERIFIER_nondet_bool(void);

int main(void) {
    int bits = 0;
    for (int i = 0; i < N; i++)
        bits = 2 * bits + __VERIFIER_nondet_bool();
#ifdef BROKEN
    assert(bits != (1 << N) - 1);
#endif
}
