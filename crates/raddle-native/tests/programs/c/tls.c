// Thread-local variables of the executable: initialised, zero, aligned, and an array.
#include <stdint.h>
#include <stdio.h>

static __thread int counter = 5;
__thread long zero;
static __thread char text[20] = "thread-local";
static _Alignas(64) __thread double aligned = 2.5;
extern __thread long zero;
static int *address(void) { return &counter; }

int main(void) {
    for (int i = 0; i < 4; i++) { counter += i; zero -= counter; }
    text[0] = 'T';
    aligned *= counter;
    printf("%d %ld %s %g %d %d\n", counter, zero, text, aligned, (uintptr_t)&aligned % 64 == 0, *address());
    return 0;
}
