// Signed, unsigned and zero-width bit-fields, and packed ones.
#include <stdio.h>
#include <string.h>

struct mixed { int a : 3; unsigned b : 5; int : 0; unsigned c : 17; long long d : 40; };
struct __attribute__((packed)) tight { unsigned char a : 3; unsigned b : 30; short c; };

int main(void) {
    struct mixed m;
    memset(&m, 0, sizeof m);
    for (int i = -5; i < 6; i++) {
        m.a = i;
        m.b = i * 7;
        m.c = i * 1000;
        m.d = i * 123456789LL;
        printf("%d %u %u %lld\n", m.a, m.b, m.c, (long long)m.d);
    }
    struct tight t;
    memset(&t, 0, sizeof t);
    t.a = 5;
    t.b = 0x2aaaaaaa;
    t.c = -2;
    unsigned char raw[sizeof t];
    memcpy(raw, &t, sizeof t);
    for (size_t i = 0; i < sizeof t; i++) printf("%02x ", raw[i]);
    printf("%zu %zu\n", sizeof m, sizeof t);
    return 0;
}
