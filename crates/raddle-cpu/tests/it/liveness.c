/* Functions with questions: `ask` is a shared variable. */
#include <stdint.h>

volatile uint64_t ask;

uint64_t spin(uint64_t n) {
    uint64_t last = 0, rounds = 0;
    while (rounds < n) {
        uint64_t seen = ask;
        uint64_t scratch = seen * 3;
        if (scratch % 2 == 0)
            last = seen;
        rounds++;
    }
    return last;
}

static __attribute__((noinline)) uint64_t many(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                              uint64_t f, uint64_t g, uint64_t h) {
    uint64_t first = ask;
    uint64_t sum = a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + ask;
    return sum + g * 7 + h * 8 + first;
}

uint64_t arguments(uint64_t n) {
    uint64_t x = ask, y = x + n;
    uint64_t r = many(x, y, n, 4, 5, 6, x ^ y, y + 9);
    return r + x + many(r, 1, 2, 3, 4, x, y, n);
}

static __attribute__((noinline)) void fill(uint64_t *place, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        place[i] = ask + i;
}

uint64_t escaping(uint64_t n) {
    uint64_t a[8];
    fill(a, 8);
    uint64_t sum = 0;
    for (int i = 0; i < 8; i++)
        sum = sum * 31 + a[(i + n) % 8] + ask;
    return sum;
}

uint64_t recursive(uint64_t n) {
    if (n == 0)
        return ask;
    uint64_t before = ask;
    uint64_t below = recursive(n - 1);
    return before * 3 + below + ask;
}

double floating(uint64_t n) {
    double sum = 1.5;
    for (uint64_t i = 0; i < n; i++) {
        double x = (double)(int64_t)(ask & 0xff), y = sum / (x + 1);
        if (y > 10)
            sum -= x;
        else
            sum += x * y;
    }
    return sum;
}

uint64_t floats(uint64_t n) {
    union { double d; uint64_t u; } r = {floating(n)};
    return r.u;
}

uint64_t choose(uint64_t n) {
    switch (ask % 7 + n - n) {
    case 0: return ask + 1;
    case 1: return ask * 2;
    case 2: return n;
    case 3: return ask ^ n;
    case 4: return n * n;
    case 5: return ask - n;
    default: return 99;
    }
}

static __attribute__((noinline)) uint64_t leaf(uint64_t a, uint64_t b) {
    uint64_t x = a * 3, y = b * 5, z = x ^ y;
    uint64_t q = ask;
    return q + z + y;
}

uint64_t leaves(uint64_t n) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += leaf(sum, i);
    return sum;
}
