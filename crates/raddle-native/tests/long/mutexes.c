// Three threads lock one of 600 mutexes.

#include <assert.h>
#include <pthread.h>

#define N 600

static pthread_mutex_t mutexes[N];
static int count;

static void *run(void *unused) {
    pthread_mutex_lock(&mutexes[N - 1]);
    count++;
    pthread_mutex_unlock(&mutexes[N - 1]);
    return unused;
}

int main(void) {
    for (int i = 0; i < N; i++)
        pthread_mutex_init(&mutexes[i], NULL);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(count == 3);
    for (int i = 0; i < N; i++)
        pthread_mutex_destroy(&mutexes[i]);
    return 0;
}
