// Polls a flag in a critical section.

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_done, data;

static void poll(void) {
    int seen;
    do {
        pthread_mutex_lock(&mutex);
        seen = is_done;
        pthread_mutex_unlock(&mutex);
    } while (!seen);
}

static void *worker(void *unused) {
    data = 42;
    pthread_mutex_lock(&mutex);
#ifndef NEVER
    is_done = 1;
#endif
    pthread_mutex_unlock(&mutex);
#ifdef BOTH
    poll();
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    poll();
    assert(data == 42);
    pthread_join(thread, NULL);
    return 0;
}
