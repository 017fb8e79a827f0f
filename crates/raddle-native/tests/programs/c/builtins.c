// Bit counting, byte swaps and overflow checks.
#include <limits.h>
#include <stdio.h>

int main(void) {
    unsigned long long x = 0x123456789abcdef0ULL;
    for (int i = 0; i < 40; i++) {
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        int r, s;
        printf("%d %d %d %d %lx %d%d\n", __builtin_popcountll(x), __builtin_clzll(x), __builtin_ctzll(x),
               __builtin_parityll(x), __builtin_bswap64(x), __builtin_add_overflow((int)x, (int)(x >> 32), &r),
               __builtin_mul_overflow((int)x, (int)(x >> 40), &s));
    }
    printf("%d %d\n", __builtin_ffs(0), __builtin_ffsll(1LL << 50));
    return 0;
}
