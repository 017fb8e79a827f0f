// Over-aligned locals.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static _Atomic int x;
void *t(void*a) {
    _Alignas(32) int v[32/4*2];
    assert(((uintptr_t)v&(32-1)) == 0);
    v[0] = atomic_load(&x);
    v[1] = v[0];
    assert(v[1]<2);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, t, 0);
    _Alignas(32) int w = 1;
    atomic_store(&x, w);
    assert(((uintptr_t)&w&(32-1)) == 0);
    pthread_join(a, 0);
    return 0;
}
