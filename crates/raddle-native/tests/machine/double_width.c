// Atomic accesses of 16 bytes.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct {
    long a, b;
} P2;

static _Atomic P2 x;
void*t(void*a) {
    P2 v = {1, 1};
    atomic_store(&x, v);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    P2 v = atomic_load(&x);
    assert(v.a == v.b);
    pthread_join(a, 0);
    return 0;
}
