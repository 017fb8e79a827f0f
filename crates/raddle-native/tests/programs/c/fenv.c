// Rounding modes and exception flags of the SSE unit.
#include <fenv.h>
#include <math.h>
#include <stdio.h>

int main(void) {
    int modes[] = { FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO };
    volatile double one = 1, three = 3, half = 2.5;
    for (int i = 0; i < 4; i++) {
        fesetround(modes[i]);
        printf("%a %a %.0f %ld\n", one / three, -one / three, rint(half), lrint(-half));
    }
    fesetround(FE_TONEAREST);
    feclearexcept(FE_ALL_EXCEPT);
    volatile double inexact = one / three;
    (void)inexact;
    printf("%d %d\n", !!fetestexcept(FE_INEXACT), !!fetestexcept(FE_DIVBYZERO));
    return 0;
}
