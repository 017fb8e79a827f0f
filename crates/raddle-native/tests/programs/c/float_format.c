// Every floating-point conversion with every flag.
#include <float.h>
#include <math.h>
#include <stdio.h>

int main(void) {
    double values[] = { 0, -0.0, 1, -1.5, 0.1, 1e10, 1e-10, 123456.789, 1e300, DBL_MIN, DBL_MAX, 5e-324, INFINITY, -NAN, 2.5, 3.5 };
    for (int i = 0; i < 16; i++) {
        double v = values[i];
        printf("%f|%e|%g|%a|%F|%E|%G|%A\n", v, v, v, v, v, v, v, v);
        printf("%.0f|%#.0f|%+.3f|% .3e|%010.2f|%-12.4g|%#g|%.20g|%.17g\n", v, v, v, v, v, v, v, v, v);
        printf("%Lf|%.3Le|%Lg|%La\n", (long double)v, (long double)v, (long double)v, (long double)v);
    }
    return 0;
}
