// A lock in inline assembly, released by a plain store.
#include <assert.h>
#include <pthread.h>

static int l;
static int n;
void lock(void) {
    int v = 1;
    do {
        v = 1;
        __asm__ volatile("xchgl %0,%1":"+r"(v),"+m"(l)::"memory");
    } while(v);
}

void unlock(void) {
    __asm__ volatile("movl $0,%0":"=m"(l)::"memory");
}

void*t(void*a) {
    lock();
    n++;
    unlock();
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, t, 0);
    pthread_create(&b, 0, t, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
