// Two threads count under a mutex.
#include <pthread.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *add(void *unused) {
    pthread_mutex_lock(&mutex);
    int old = count;
    count = old + 1;
    pthread_mutex_unlock(&mutex);
    return 0;
}
int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, add, 0);
    pthread_create(&ids[1], 0, add, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    __VERIFIER_assert(count == 2);
    return 0;
}
