// A condition variable that is signalled without its mutex: the wakeup is lost.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static atomic_int is_ready;

static void *consumer(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!is_ready)
        pthread_cond_wait(&ready, &mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

static void *producer(void *unused) {
    is_ready = 1;
    pthread_cond_signal(&ready);
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, consumer, 0);
    pthread_create(&other, 0, producer, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
}
