// Division and remainder of every width and sign, with lldiv and imaxdiv.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    volatile long values[] = { 1, -1, 7, -7, 100, -128, 32767, -2147483647, 1234567890123L, -9007199254740993L };
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 10; k++) {
            long a = values[i], b = values[k];
            lldiv_t d = lldiv(a, b);
            printf("%ld %ld %d %d %u %d %d %lld %lld\n", a / b, a % b, (int)a / ((int)b | 1), (short)a % ((short)b | 1),
                   (unsigned)a / ((unsigned)b | 1), (signed char)a / ((signed char)b | 1),
                   (unsigned char)a % ((unsigned char)b | 1), d.quot, d.rem);
        }
    return 0;
}
