// A condition that is signalled while nobody waits yet: without a look at the state first it is lost.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *waiter(void *unused) {
    pthread_mutex_lock(&mutex);
#ifdef BROKEN
    pthread_cond_wait(&condition, &mutex);
#else
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
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
