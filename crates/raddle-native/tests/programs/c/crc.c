// CRC-32 with a table, and Adler-32.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t table[256];

int main(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
    const char *text = "The quick brown fox jumps over the lazy dog";
    uint32_t crc = ~0u, a = 1, b = 0;
    for (size_t i = 0; i < strlen(text); i++) {
        crc = table[(crc ^ (uint8_t)text[i]) & 0xff] ^ (crc >> 8);
        a = (a + (uint8_t)text[i]) % 65521;
        b = (b + a) % 65521;
    }
    printf("%08x %08x\n", ~crc, b << 16 | a);
    return (~crc) & 0x7f;
}
