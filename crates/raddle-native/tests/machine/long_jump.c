// longjmp within a thread.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

static _Atomic int x;
void*t(void*a) {
    jmp_buf b;
    volatile int n = 0;
    if(setjmp(b) == 0) {
        n = atomic_load(&x)+1;
        longjmp(b, 1);
    }
    assert(n == 1 || n == 2);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    atomic_store(&x, 1);
    pthread_join(a, 0);
    return 0;
}
