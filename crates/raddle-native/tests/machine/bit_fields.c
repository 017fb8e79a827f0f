// Bit-fields of one word under a lock.
#include <assert.h>
#include <pthread.h>

struct s {
    unsigned a:3, b:5, c:24;
};

static struct s g;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void*t(void*x) {
    pthread_mutex_lock(&m);
    g.b = 17;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    pthread_mutex_lock(&m);
    g.a = 5;
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    assert(g.a == 5 && g.b == 17 && g.c == 0);
    return 0;
}
