// A sieve with a bit array.
#include <stdio.h>

static unsigned bits[3200];

int main(void) {
    int count = 0, last = 0;
    for (int i = 2; i < 100000; i++) {
        if (bits[i / 32] >> i % 32 & 1) continue;
        count++;
        last = i;
        for (long k = (long)i * i; k < 100000; k += i) bits[k / 32] |= 1u << k % 32;
    }
    printf("%d %d\n", count, last);
    return count & 0xff;
}
