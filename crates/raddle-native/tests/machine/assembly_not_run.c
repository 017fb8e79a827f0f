// Inline assembly that is never executed.
#include <stdatomic.h>

static _Atomic int x;
int main(int c, char**v) {
    if(c>5) __asm__ volatile("vpgatherdd %%ymm0,(%%rax,%%ymm1),%%ymm2; rdmsr; hlt":::"memory");
    return 0;
}
