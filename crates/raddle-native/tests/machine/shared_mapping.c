// Mapped memory that threads share.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static _Atomic(int*) p;
static _Atomic int x;
void *t(void*a) {
    int k = atomic_load(&x);
    int *q = mmap(0, 4096*(k+1), PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
    q[0] = k;
    q[1] = 5;
    atomic_store(&p, q);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    atomic_store(&x, 1);
    int*q = atomic_load(&p);
    if(q) assert(q[1] == 5);
    pthread_join(a, 0);
    return 0;
}
