// Bit-fields of one word without a lock.
#include <assert.h>
#include <pthread.h>

struct s {
    unsigned a:3, b:5, c:24;
};

static struct s g;
void*t(void*x) {
    g.b = 17;
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    g.a = 5;
    pthread_join(a, 0);
    assert(g.a == 5 && g.b == 17);
    return 0;
}
