// A destructor that fails.
#include <assert.h>

__attribute__((destructor)) static void f(void) {
    assert(0);
}

int main(void) {
    return 0;
}
