// Threads that count under a mutex. BROKEN ones forget it.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 3
#endif

static int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused) {
#ifndef BROKEN
    pthread_mutex_lock(&mutex);
#endif
    counter++;
#ifndef BROKEN
    pthread_mutex_unlock(&mutex);
#endif
    return 0;
}

int main(void) {
    pthread_t ids[N];
    for (int i = 0; i < N; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < N; i++)
        pthread_join(ids[i], 0);
    assert(counter == N);
}
