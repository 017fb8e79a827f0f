// 128-bit arithmetic: multiplication, division, shifts, conversion to floating point.
#include <stdio.h>

typedef unsigned __int128 u128;
static void print(u128 v) {
    char text[50];
    int i = 49;
    text[i] = 0;
    do { text[--i] = (char)('0' + (int)(v % 10)); v /= 10; } while (v);
    puts(text + i);
}

int main(void) {
    u128 f = 1;
    for (int i = 1; i <= 33; i++) { f *= i; print(f); }
    __int128 s = -(__int128)f;
    printf("%ld %ld %d\n", (long)(s / 1000000007), (long)(s % 1000000007), s < 0);
    print(f >> 37 | f << 91);
    printf("%.17g %.17g\n", (double)f, (double)s);
    print((u128)1.5e30);
    return 0;
}
