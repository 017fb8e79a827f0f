// Conversions from text: strtod, strtof, strtold, strtol, strtoull.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    const char *texts[] = { "1.5", "-0x1.8p-3", "1e400", "1e-400", "inf", "nan(12)", "  7abc", "", ".5.", "2.2250738585072011e-308", "9007199254740993", "0.1000000000000000055511151231257827" };
    for (int i = 0; i < 12; i++) {
        char *end;
        errno = 0;
        double d = strtod(texts[i], &end);
        printf("%.17g %d %td | ", d, errno, end - texts[i]);
        printf("%.9g %.21Lg\n", strtof(texts[i], NULL), strtold(texts[i], NULL));
    }
    const char *numbers[] = { "10", "-10", "0x7f", "077", "zz", "99999999999999999999", "-9223372036854775809", "+5" };
    int bases[] = { 0, 2, 8, 10, 16, 36 };
    for (int i = 0; i < 8; i++)
        for (int b = 0; b < 6; b++) printf("%ld %llu ", strtol(numbers[i], NULL, bases[b]), strtoull(numbers[i], NULL, bases[b]));
    printf("%d %ld %g\n", atoi("12x"), atol("-3"), atof("2.5e2"));
    return 0;
}
