// Complex arithmetic: multiplication and division by libgcc, functions by libm.
#include <complex.h>
#include <stdio.h>

int main(void) {
    double complex z = 1.5 - 2.25 * I, sum = 0;
    for (int i = 1; i < 12; i++) {
        sum += z / (i + 0.5 * I) * cexp(z / i);
        printf("%.12g %.12g %.12g\n", creal(sum), cimag(sum), cabs(sum));
    }
    float complex f = csqrtf(-3.0f + 4.0f * I);
    long double complex l = z * z;
    printf("%.6g %.6g %.15Lg %.15Lg\n", crealf(f), cimagf(f), creall(l), cimagl(l));
    return 0;
}
