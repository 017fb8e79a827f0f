// A constructor that fails.
#include <assert.h>

__attribute__((constructor)) static void f(void) {
    assert(0);
}

int main(void) {
    return 0;
}
