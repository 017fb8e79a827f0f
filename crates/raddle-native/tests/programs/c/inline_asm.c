// Inline assembly: cpuid is not asked; arithmetic, bit scans, rep and locked instructions.
#include <stdio.h>
#include <string.h>

int main(void) {
    long a = 12345, b = 678, q, r;
    __asm__("cqto\n\tidivq %3" : "=a"(q), "=&d"(r) : "a"(a * b + 5), "r"(b) : "cc");
    long index;
    __asm__("bsrq %1, %0" : "=r"(index) : "r"(0x123400L) : "cc");
    char from[40] = "copied by rep movsb", to[40] = { 0 };
    void *d = to, *s = from;
    long n = 40;
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
    int counter = 5, old = 7;
    __asm__ volatile("lock xaddl %0, %1" : "+r"(old), "+m"(counter) : : "cc", "memory");
    __asm__ volatile("mfence" : : : "memory");
    unsigned char carry;
    unsigned long sum = ~0ul;
    __asm__("addq $1, %0\n\tsetc %1" : "+r"(sum), "=q"(carry) : : "cc");
    printf("%ld %ld %ld %s %d %d %lu %d\n", q, r, index, to, counter, old, sum, carry);
    return 0;
}
