// Unaligned accesses of every width, and over-aligned locals.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct __attribute__((packed)) packed { char c; uint64_t q; uint16_t h; uint32_t w; double d; };

static int over_aligned(void) {
    _Alignas(4096) char page[64];
    _Alignas(256) volatile char line[3];
    line[0] = 1;
    memset(page, 1, sizeof page);
    return (uintptr_t)page % 4096 == 0 && (uintptr_t)line % 256 == 0 && page[63] == line[0];
}

int main(void) {
    struct packed p[5];
    for (int i = 0; i < 5; i++) p[i] = (struct packed){ (char)i, 0x1122334455667788u * i, (uint16_t)(i * 777), i * 99999u, i / 3.0 };
    uint64_t sum = 0;
    const char *raw = (const char *)p;
    for (size_t i = 0; i + 8 <= sizeof p; i++) { uint64_t v; memcpy(&v, raw + i, 8); sum = sum * 31 + v; }
    printf("%lu %d\n", sum, over_aligned());
    return 0;
}
