// A wait that may end because the time is up.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *waiter(void *unused) {
    struct timespec deadline = {1, 0};
    int error = 0;
    pthread_mutex_lock(&mutex);
    while (!ready && !error)
        error = pthread_cond_timedwait(&condition, &mutex, &deadline);
    assert(ready || error == ETIMEDOUT);
#ifdef BROKEN
    assert(ready);
#endif
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, waiter, 0);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(id, 0);
}
