// pthread_exit calls cleanup handlers.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int d;
static void c(void*p) {
    d = 1;
}

void*t(void*a) {
    pthread_cleanup_push(c, 0);
    pthread_exit(0);
    pthread_cleanup_pop(0);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    pthread_join(a, 0);
    assert(d == 1);
    return 0;
}
