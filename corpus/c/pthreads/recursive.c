// A mutex that its owner may lock again.
#include <assert.h>
#include <pthread.h>

static int counter;
static pthread_mutex_t mutex;

static void add(int times) {
    pthread_mutex_lock(&mutex);
    if (times > 1)
        add(times - 1);
    counter++;
    assert(pthread_mutex_unlock(&mutex) == 0);
}

static void *run(void *unused) {
    add(2);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    assert(pthread_mutex_init(&mutex, &attributes) == 0);
    pthread_mutexattr_destroy(&attributes);
    for (int i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    assert(counter == 4);
    pthread_mutex_destroy(&mutex);
}
