// Variable-length arrays, two-dimensional and as parameters.
#include <stdio.h>

static long trace(int n, int m[n][n]) {
    long sum = 0;
    for (int i = 0; i < n; i++) sum += m[i][i];
    return sum;
}

int main(void) {
    long total = 0;
    for (int n = 1; n < 25; n++) {
        int m[n][n];
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) m[i][k] = i * n + k;
        total += trace(n, m) + (long)sizeof m;
    }
    printf("%ld\n", total);
    return 0;
}
