// libm in double and float.
#include <math.h>
#include <stdio.h>

int main(void) {
    for (int i = -8; i < 12; i++) {
        double x = i * 0.73 + 0.1;
        int e, q;
        printf("%.17g %.17g %.17g %.17g ", sin(x), cos(x), tan(x), exp(x));
        printf("%.17g %.17g %.17g %.17g ", log(fabs(x)), pow(fabs(x), 1.7), cbrt(x), atan2(x, 2));
        printf("%.17g %.17g %.17g %.17g ", tgamma(fabs(x)), erf(x), hypot(x, 3), fma(x, x, -1));
        double fraction = frexp(x, &e), rest = remquo(x, 0.7, &q);
        printf("%.17g %d %.17g %d ", fraction, e, rest, q);
        printf("%g %g %g %g %ld ", floor(x), ceil(x), trunc(x), round(x), lround(x));
        printf("%.9g %.9g %.9g %.9g\n", sinf((float)x), expf((float)x), powf(2, (float)x), logf((float)fabs(x)));
    }
    printf("%g %g %g %d\n", nextafter(1, 2) - 1, ldexp(1, -1070), copysign(3, -0.0), ilogb(1e100));
    return 0;
}
