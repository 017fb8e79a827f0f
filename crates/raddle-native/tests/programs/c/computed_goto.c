// A bytecode interpreter with computed goto.
#include <stdio.h>

static long run(const unsigned char *code) {
    static void *const labels[] = { &&push, &&add, &&mul, &&dup, &&loop, &&halt };
    long stack[32], *sp = stack, counter = 10;
    const unsigned char *pc = code;
    goto *labels[*pc++];
push: *sp++ = *pc++; goto *labels[*pc++];
add: sp--; sp[-1] += sp[0]; goto *labels[*pc++];
mul: sp--; sp[-1] *= sp[0]; goto *labels[*pc++];
dup: *sp = sp[-1]; sp++; goto *labels[*pc++];
loop: if (--counter) pc = code + *pc; else pc++; goto *labels[*pc++];
halt: return sp[-1];
}

int main(void) {
    unsigned char code[] = { 0, 1, 0, 3, 1, 0, 2, 2, 4, 2, 3, 1, 5 };
    printf("%ld\n", run(code));
    return 0;
}
