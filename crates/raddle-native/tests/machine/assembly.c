// A locked instruction in inline assembly.
#include <assert.h>
#include <pthread.h>

static int x;
void*t(void*a) {
    __asm__ volatile("lock incl %0":"+m"(x));
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, t, 0);
    pthread_create(&b, 0, t, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
