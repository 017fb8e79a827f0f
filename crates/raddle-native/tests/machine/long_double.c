// Numbers of 80 bits.
#include <assert.h>
#include <pthread.h>

static long double s = 1;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void*t(void*a) {
    pthread_mutex_lock(&m);
    s*=3;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    pthread_mutex_lock(&m);
    s*=5;
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    assert(s == 15);
    return 0;
}
