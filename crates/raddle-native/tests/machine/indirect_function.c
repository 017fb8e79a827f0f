// A function that is chosen at the start.
#include <assert.h>

static int one(void) {
    return 1;
}

static void *res(void) {
    return one;
}

int f(void) __attribute__((ifunc("res")));
int main(void) {
    assert(f() == 1);
    return 0;
}
