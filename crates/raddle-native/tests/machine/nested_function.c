// A pointer to a nested function.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;
static int call(int(*f)(int)) {
    return f(2);
}

void*t(void*a) {
    int k = atomic_load(&x);
    int g(int y) {
        return y+k;
    }
    int r = call(g);
    assert(r == 2 || r == 3);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    atomic_store(&x, 1);
    pthread_join(a, 0);
    return 0;
}
