// Every integer conversion, width, precision and length modifier of printf.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

int main(void) {
    long long v[] = { 0, 1, -1, 42, -32769, 2147483648LL, -9223372036854775807LL - 1 };
    for (int i = 0; i < 7; i++) {
        printf("%d|%i|%u|%o|%x|%X|%hd|%hhd|%hhu\n", (int)v[i], (int)v[i], (unsigned)v[i], (unsigned)v[i], (unsigned)v[i],
               (unsigned)v[i], (short)v[i], (signed char)v[i], (unsigned char)v[i]);
        printf("%ld|%lld|%jd|%zd|%td|%lo|%#llx|%" PRIu64 "\n", (long)v[i], v[i], (intmax_t)v[i], (size_t)v[i],
               (ptrdiff_t)v[i], (long)v[i], v[i], (uint64_t)v[i]);
        printf("%5d|%-5d|%05d|%+d|% d|%.4d|%8.3d|%-8.3d|%*d|%.*d|%#o|%#x\n", (int)v[i], (int)v[i], (int)v[i], (int)v[i],
               (int)v[i], (int)v[i], (int)v[i], (int)v[i], 7, (int)v[i], 6, (int)v[i], (int)v[i], (int)v[i]);
    }
    int n;
    printf("%s|%10s|%-10s|%.2s|%c|%5c|%%\n", "text", "right", "left", "cut", 'c', 'd');
    printf("%2$s %1$d %2$s%3$n\n", 5, "again", &n);
    printf("%d %p\n", n, (void *)0);
    return 0;
}
