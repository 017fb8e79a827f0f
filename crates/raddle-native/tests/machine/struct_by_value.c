// Structs by value.
#include <assert.h>
#include <pthread.h>

struct s {
    int a[5];
    char c;
    double d;
};

static struct s g;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct s get(void) {
    pthread_mutex_lock(&m);
    struct s r = g;
    pthread_mutex_unlock(&m);
    return r;
}

void*t(void*a) {
    struct s v = {{1,2,3,4,5},'x',2.5};
    pthread_mutex_lock(&m);
    g = v;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    struct s v = get();
    assert(v.a[4] == 0 || (v.a[4] == 5 && v.d == 2.5 && v.c == 'x'));
    pthread_join(a, 0);
    return 0;
}
