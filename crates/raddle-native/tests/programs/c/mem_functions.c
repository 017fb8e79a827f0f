// memcpy, memmove, memset, memchr, memcmp, memmem at many sizes and alignments.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    static unsigned char a[70000], b[70000];
    unsigned long sum = 0;
    for (size_t i = 0; i < sizeof a; i++) a[i] = (unsigned char)(i * 31 + i / 251);
    size_t sizes[] = { 0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 127, 200, 511, 1000, 4096, 4097, 20000, 65000 };
    for (int s = 0; s < 21; s++)
        for (int o = 0; o < 5; o++) {
            size_t n = sizes[s];
            memset(b, o, sizeof b);
            memcpy(b + o, a + 3 * o, n);
            memmove(b + 2 * o + 1, b + o, n);
            memmove(b + o, b + o + 1, n);
            for (size_t i = 0; i < n + 20; i += 1 + n / 64) sum = sum * 131 + b[i];
            unsigned char *p = memchr(b, 0x55, n), *q = memrchr(b, 0x55, n), *r = memmem(b, n, "\x1f\x3e", 2);
            sum = sum * 31 + (p ? p - b : -1) + (q ? q - b : -1) + (r ? r - b : -1);
            sum += memcmp(a, b, n) < 0;
        }
    printf("%lu\n", sum);
    return 0;
}
