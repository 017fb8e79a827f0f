// A frame of 2 MiB, and 20,000 nested frames.
#include <stdio.h>
#include <string.h>

static unsigned deep(unsigned n) {
    volatile char pad[64];
    pad[0] = (char)n;
    return n == 0 ? 0 : pad[0] + deep(n - 1);
}

static int wide(int seed) {
    char block[2 << 20];
    memset(block, seed, sizeof block);
    int sum = 0;
    for (size_t i = 0; i < sizeof block; i += 4096) sum += block[i];
    return sum;
}

int main(void) {
    printf("%d %u\n", wide(3), deep(20000));
    return 0;
}
