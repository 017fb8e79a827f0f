// Variable arguments: more than the registers hold, floating point, structures, va_copy.
#include <stdarg.h>
#include <stdio.h>

struct point { double x, y; };

static double sum(const char *kinds, ...) {
    va_list a, b;
    va_start(a, kinds);
    va_copy(b, a);
    double total = 0;
    for (const char *k = kinds; *k; k++) {
        if (*k == 'i') total += va_arg(a, int);
        if (*k == 'l') total += va_arg(a, long);
        if (*k == 'd') total += va_arg(a, double);
        if (*k == 'L') total += (double)va_arg(a, long double);
        if (*k == 'p') { struct point p = va_arg(a, struct point); total += p.x * p.y; }
        if (*k == 's') total += va_arg(a, char *)[0];
    }
    va_end(a);
    if (kinds[0] == 'i') total += va_arg(b, int) * 1000;
    va_end(b);
    return total;
}
static int format(char *to, const char *how, ...) {
    va_list a;
    va_start(a, how);
    int n = vsprintf(to, how, a);
    va_end(a);
    return n;
}

int main(void) {
    struct point p = { 2, 3 };
    char text[100];
    printf("%g\n", sum("iiiiiiiildddddddddd", 1, 2, 3, 4, 5, 6, 7, 8, 9L, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5));
    printf("%g\n", sum("ipLdsp", 1, p, 1.25L, 0.75, "A", p));
    int n = format(text, "%d %s %.2f %c %ld %d %d %d", 1, "two", 3.0, '4', 5L, 6, 7, 8);
    printf("%d %s\n", n, text);
    return 0;
}
