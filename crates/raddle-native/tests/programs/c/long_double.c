// x87 arithmetic: long double operations, functions and conversions.
#include <math.h>
#include <stdio.h>

int main(void) {
    volatile long double x = 1.0L / 3, sum = 0;
    for (int i = 1; i < 30; i++) {
        sum += sinl(x * i) * expl(-x / i) + fmodl(100.5L, x * i);
        x = sqrtl(x + i);
        printf("%.20Lg %.20Lg %La\n", sum, x, floorl(sum));
    }
    printf("%lld %d %llu\n", (long long)(sum * 1e6L), (int)x, (unsigned long long)(x * 1e18L));
    printf("%.6f %.15g\n", (float)sum, (double)sum);
    return 0;
}
