// Endless recursion of a thread.
#include <pthread.h>

int f(int n) {
    volatile int a[100];
    a[0] = n;
    return f(n+1)+a[0];
}

void*t(void*a) {
    f(0);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    pthread_join(a, 0);
    return 0;
}
