// Every kind of scanf conversion.
#include <stdio.h>
#include <string.h>

int main(void) {
    int d, i, n, count;
    unsigned u, o, x;
    long l;
    short h;
    char c[4] = "", s[20], set[20], rest[20];
    double f;
    float g;
    long double e;
    count = sscanf("  -12 0x1f 0755 42 77 beef 123456789012 -5", "%d %i %i %u %o %x %ld %hd", &d, &i, &n, &u, &o, &x, &l, &h);
    printf("%d: %d %d %d %u %u %x %ld %d\n", count, d, i, n, u, o, x, l, h);
    count = sscanf("3.25 -1e3 0x1.8p3 word abcXYZ rest", "%lf %f %Lf %s %[a-c]%19[^r]%3c%n", &f, &g, &e, s, set, rest, c, &n);
    printf("%d: %g %g %Lg %s %s [%s] %.3s %d\n", count, f, g, e, s, set, rest, c, n);
    count = sscanf("12:34:56", "%2d:%*d:%2d", &d, &i);
    printf("%d: %d %d\n", count, d, i);
    printf("%d %d\n", sscanf("x", "%d", &d), sscanf("", "%d", &d));
    char *made = NULL;
    count = sscanf("allocated text", "%ms", &made);
    printf("%d %s\n", count, made);
    return 0;
}
