// malloc, realloc, calloc, aligned_alloc and free in a deterministic mix; large blocks use mmap.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    unsigned char *blocks[64] = { 0 };
    size_t sizes[64] = { 0 };
    unsigned seed = 1;
    unsigned long sum = 0;
    for (int i = 0; i < 4000; i++) {
        seed = seed * 1103515245u + 12345u;
        int k = (seed >> 16) % 64;
        size_t n = (seed >> 8) % 700 + 1;
        if (i % 500 == 0) n = 300000;
        for (size_t j = 0; j < sizes[k]; j += 97) sum = sum * 31 + blocks[k][j];
        switch (seed >> 30) {
        case 0: free(blocks[k]); blocks[k] = malloc(n); break;
        case 1: blocks[k] = realloc(blocks[k], n); break;
        case 2: free(blocks[k]); blocks[k] = calloc(n, 1); break;
        default: free(blocks[k]); blocks[k] = aligned_alloc(64, (n + 63) & ~63ul); if ((uintptr_t)blocks[k] % 64) return 1;
        }
        memset(blocks[k], k, n);
        sizes[k] = n;
    }
    for (int k = 0; k < 64; k++) free(blocks[k]);
    printf("%lu\n", sum);
    return 0;
}
