// A function for the end of the program that fails.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int x;
static void f(void) {
    assert(x == 0);
}

void*t(void*a) {
    x = 1;
    return 0;
}

int main(void) {
    pthread_t a;
    atexit(f);
    pthread_create(&a, 0, t, 0);
    pthread_join(a, 0);
    return 0;
}
