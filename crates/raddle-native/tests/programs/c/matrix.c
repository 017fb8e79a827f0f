// LU decomposition; at -O2 the compiler uses packed arithmetic.
#include <math.h>
#include <stdio.h>

#define N 24
static double a[N][N], b[N];

int main(void) {
    for (int i = 0; i < N; i++) {
        b[i] = i + 1;
        for (int k = 0; k < N; k++) a[i][k] = 1.0 / (i + k + 1) + (i == k) * 2;
    }
    for (int p = 0; p < N; p++)
        for (int i = p + 1; i < N; i++) {
            double f = a[i][p] / a[p][p];
            for (int k = p; k < N; k++) a[i][k] -= f * a[p][k];
            b[i] -= f * b[p];
        }
    for (int i = N - 1; i >= 0; i--) {
        for (int k = i + 1; k < N; k++) b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (int i = 0; i < N; i++) printf("%.17g\n", b[i]);
    return 0;
}
