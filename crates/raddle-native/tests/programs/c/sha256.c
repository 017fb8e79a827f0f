// SHA-256 of a few messages.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t k[64];
static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void constants(uint32_t *h) {
    int n = 0;
    for (int p = 2; n < 64; p++) {
        int prime = 1;
        for (int d = 2; d * d <= p; d++) prime &= p % d != 0;
        if (!prime) continue;
        long double c = __builtin_cbrtl(p), s = __builtin_sqrtl(p);
        if (n < 8) h[n] = (uint32_t)((s - (long double)(uint64_t)s) * 4294967296.0L);
        k[n++] = (uint32_t)((c - (long double)(uint64_t)c) * 4294967296.0L);
    }
}

static void hash(const char *text) {
    uint32_t h[8], w[64];
    uint8_t block[64] = { 0 };
    constants(h);
    size_t n = strlen(text);
    memcpy(block, text, n);
    block[n] = 0x80;
    block[62] = (uint8_t)(n * 8 >> 8);
    block[63] = (uint8_t)(n * 8);
    for (int i = 0; i < 16; i++) w[i] = (uint32_t)block[4 * i] << 24 | block[4 * i + 1] << 16 | block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    uint32_t s[8];
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t t = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        uint32_t u = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 28);
        s[4] += t;
        s[0] = t + u;
    }
    for (int i = 0; i < 8; i++) printf("%08x", h[i] + s[i]);
    putchar('\n');
}

int main(void) {
    hash("");
    hash("abc");
    hash("message digest of fifty-five bytes or less, for a block");
    return 0;
}
