// setjmp and longjmp: out of nested calls, with values, and sigsetjmp.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf here;
static sigjmp_buf there;
static void leave(int n) { if (n == 0) longjmp(here, 7); leave(n - 1); }

int main(void) {
    volatile int rounds = 0;
    int value = setjmp(here);
    printf("%d %d\n", value, rounds);
    if (rounds++ < 3) leave(rounds * 5);
    if (sigsetjmp(there, 0) == 0) siglongjmp(there, 1);
    else puts("back");
    jmp_buf zero;
    volatile int once = 0;
    value = setjmp(zero);
    if (!once) { once = 1; longjmp(zero, 0); }
    return value + rounds;
}
