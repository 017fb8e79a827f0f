// longjmp to the stack of another thread.
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

static jmp_buf b;
static _Atomic int s;
void*t(void*a) {
    if(atomic_load(&s)) longjmp(b, 1);
    return 0;
}

int main(void) {
    pthread_t a;
    if(setjmp(b) == 0) {
        atomic_store(&s, 1);
        pthread_create(&a, 0, t, 0);
        pthread_join(a, 0);
    }
    return 0;
}
