// A thread releases the mutex of another one.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused) {
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_mutex_lock(&mutex);
    pthread_create(&id, 0, run, 0);
    pthread_join(id, 0);
    pthread_mutex_unlock(&mutex);
}
