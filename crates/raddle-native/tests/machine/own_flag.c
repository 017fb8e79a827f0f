// A thread waits for a plain variable on its own stack.
#include <pthread.h>

static void *set(void *p) {
    *(volatile int*)p = 1;
    return 0;
}

int main(void) {
    volatile int done = 0;
    pthread_t t;
    pthread_create(&t, 0, set, (void*)&done);
    while(!done);
    pthread_join(t, 0);
    return 0;
}
