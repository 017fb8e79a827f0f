// Unaligned accesses.
#include <assert.h>
#include <pthread.h>

static char b[32];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void*t(void*x) {
    pthread_mutex_lock(&m);
    *(int*)(b+1) = 0x01020304;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    pthread_mutex_lock(&m);
    int v = *(int*)(b+1);
    pthread_mutex_unlock(&m);
    assert(v == 0 || v == 0x01020304);
    pthread_join(a, 0);
    return 0;
}
