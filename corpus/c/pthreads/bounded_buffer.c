// Producers and consumers with a buffer of one place. BROKEN has one condition for both and wakes one: it
// may be the wrong one.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int buffer, full, sum;

#ifdef BROKEN
#define NOT_EMPTY not_full
#else
#define NOT_EMPTY not_empty
#endif

static void *producer(void *argument) {
    pthread_mutex_lock(&mutex);
    while (full)
        pthread_cond_wait(&not_full, &mutex);
    buffer = (int)(long)argument;
    full = 1;
    pthread_cond_signal(&NOT_EMPTY);
    pthread_mutex_unlock(&mutex);
    return 0;
}

static void *consumer(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!full)
        pthread_cond_wait(&NOT_EMPTY, &mutex);
    sum += buffer;
    full = 0;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t ids[4];
    pthread_create(&ids[0], 0, producer, (void *)1);
    pthread_create(&ids[1], 0, producer, (void *)2);
    pthread_create(&ids[2], 0, consumer, 0);
    pthread_create(&ids[3], 0, consumer, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(ids[i], 0);
    assert(sum == 3);
}
