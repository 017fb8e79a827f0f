// Threads that wait for a flag by a condition variable, each time until a deadline.
#include <pthread.h>
#include <time.h>

#ifndef THREADS
#define THREADS 1
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void wait_until_ready(void) {
    struct timespec deadline = {1, 0};
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_timedwait(&condition, &mutex, &deadline);
    pthread_mutex_unlock(&mutex);
}

static void *work(void *argument) {
    wait_until_ready();
    return argument;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, 0);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
