// Many wait for one. BROKEN wakes only one of them.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int open, passed;

static void *run(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!open)
        pthread_cond_wait(&condition, &mutex);
    passed++;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, 0);
    pthread_mutex_lock(&mutex);
    open = 1;
#ifdef BROKEN
    pthread_cond_signal(&condition);
#else
    pthread_cond_broadcast(&condition);
#endif
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    assert(passed == 2);
}
