// Comparisons with NaN, infinities and signed zeros, in float, double and long double.
#include <math.h>
#include <stdio.h>

#define ROW(T, F)                                                                                   \
    {                                                                                               \
        volatile T v[] = { 0, (T)-0.0, 1, -1, (T)INFINITY, (T)-INFINITY, (T)NAN };                  \
        for (int i = 0; i < 7; i++)                                                                 \
            for (int k = 0; k < 7; k++)                                                             \
                printf("%d%d%d%d%d%d%d ", v[i] < v[k], v[i] <= v[k], v[i] == v[k], v[i] != v[k],    \
                       v[i] > v[k], v[i] >= v[k], !!isunordered(v[i], v[k]));                       \
        putchar('\n');                                                                              \
    }

int main(void) {
    ROW(float, "f")
    ROW(double, "g")
    ROW(long double, "L")
    return 0;
}
