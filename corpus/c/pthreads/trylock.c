// A thread tries a mutex and does something else if it does not get it.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *unused) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    return 0;
}

static void *tries(void *unused) {
    int error = pthread_mutex_trylock(&mutex);
    if (error) {
        assert(error == EBUSY);
        return 0;
    }
    counter++;
    pthread_mutex_unlock(&mutex);
    return (void *)1;
}

int main(void) {
    pthread_t ids[2];
    void *got;
    pthread_create(&ids[0], 0, locks, 0);
    pthread_create(&ids[1], 0, tries, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], &got);
    assert(counter == 1 + (got != 0));
}
