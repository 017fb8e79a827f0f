// qsort of shared memory without a lock.
#include <pthread.h>
#include <stdlib.h>

static int v[4] = {3, 1, 2, 0};
static int cmp(const void*a, const void*b) {
    return *(int*)a-*(int*)b;
}

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void*t(void*a) {
    pthread_mutex_lock(&m);
    qsort(v, 4, 4, cmp);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    int x = v[0];
    pthread_join(a, 0);
    return 0;
}
