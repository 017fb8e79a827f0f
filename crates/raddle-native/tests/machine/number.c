// strtol of shared memory under a lock.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char s[8]="12";
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void*t(void*a) {
    pthread_mutex_lock(&m);
    strcpy(s,"345");
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    pthread_mutex_lock(&m);
    long x = strtol(s, 0, 10);
    pthread_mutex_unlock(&m);
    assert(x == 12 || x == 345);
    pthread_join(a, 0);
    return 0;
}
