/* Four programs that compute: a loop on the stack, quicksort, SHA-256, floating point. */
#include <stdint.h>

static int data[1000000];

uint64_t loop(uint64_t n) {
    long sum = 0;
    int a[16];
    for (int i = 0; i < 16; i++)
        a[i] = i;
    for (uint64_t i = 0; i < n; i++) {
        a[i & 15] += (int)i;
        sum += a[(i + 3) & 15];
        if (sum > 1000000)
            sum -= 999999;
    }
    return sum;
}

static void sort(int *a, long low, long high) {
    while (low < high) {
        int pivot = a[(low + high) / 2];
        long i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i <= j) {
                int t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        if (j - low < high - i) {
            sort(a, low, j);
            low = i;
        } else {
            sort(a, i, high);
            high = j;
        }
    }
}

uint64_t quicksort(uint64_t n) {
    uint32_t seed = 12345;
    for (uint64_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        data[i] = (int)(seed >> 1);
    }
    sort(data, 0, (long)n - 1);
    uint64_t hash = 0;
    for (uint64_t i = 0; i < n; i++)
        hash = hash * 31 + (uint32_t)data[i];
    return hash;
}

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* The rounds of SHA-256; the constants are generated, as only the instructions matter. */
uint64_t sha256(uint64_t n) {
    static uint32_t k[64];
    uint32_t h[8], w[64];
    for (int i = 0; i < 64; i++)
        k[i] = 0x428a2f98u * (uint32_t)(2 * i + 1);
    for (int i = 0; i < 8; i++)
        h[i] = 0x6a09e667u * (uint32_t)(i + 1);
    for (uint64_t block = 0; block < n; block++) {
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)(block * 16 + i) ^ h[i & 7];
        for (int i = 16; i < 64; i++) {
            uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], i7 = h[7];
        for (int i = 0; i < 64; i++) {
            uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
            uint32_t choice = (e & f) ^ (~e & g), t1 = i7 + s1 + choice + k[i] + w[i];
            uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
            uint32_t majority = (a & b) ^ (a & c) ^ (b & c), t2 = s0 + majority;
            i7 = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += i7;
    }
    return (uint64_t)h[0] << 32 | h[7];
}

uint64_t doubles(uint64_t n) {
    double x = 0.5, y = 0.25, sum = 0;
    for (uint64_t i = 1; i < n; i++) {
        x = x * 1.0000001 + y / (double)(long)i;
        y = y - x * 0.001;
        if (y < -1)
            y += 1.5;
        sum += x * y;
    }
    union {
        double number;
        uint64_t bits;
    } result = {sum};
    return result.bits;
}

/* x87: every other instruction saves and restores its state. */
uint64_t extended(uint64_t n) {
    long double x = 0.5L, sum = 0;
    for (uint64_t i = 1; i < n; i++) {
        x = x * 1.0000001L + 1.0L / (long double)(long)i;
        sum += x;
    }
    return (uint64_t)(long)(sum * 1000);
}

/* A shared counter: each iteration is a load and a store of shared memory between some private work. */
uint64_t counter;

uint64_t questions(uint64_t n) {
    uint64_t local = 0;
    for (uint64_t i = 0; i < n; i++) {
        local += i * 3;
        *(volatile uint64_t *)&counter = *(volatile uint64_t *)&counter + local;
    }
    return local;
}
