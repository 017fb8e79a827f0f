// Store buffering with plain variables: a race under the models of C, buffers under TSO and PSO.
#include <assert.h>
#include <pthread.h>

static int x, y, a, b;

static void *first(void *unused) {
    x = 1;
    a = y;
    return 0;
}

static void *second(void *unused) {
    y = 1;
    b = x;
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, first, 0);
    pthread_create(&ids[1], 0, second, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    assert(a == 1 || b == 1);
}
