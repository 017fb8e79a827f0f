// An atomic store to a constant.
#include <stdatomic.h>

static const _Atomic int c = 3;
int main(void) {
    atomic_store((_Atomic int*)&c, 4);
    return 0;
}
