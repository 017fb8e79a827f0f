// Trying a reader-writer lock, both ways.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_rwlock_t lock;
static int value;

static void *writer(void *unused) {
    int error = pthread_rwlock_trywrlock(&lock);
    assert(error == 0 || error == EBUSY);
    if (!error) {
        value = 1;
        pthread_rwlock_unlock(&lock);
    }
    return 0;
}

static void *reader(void *unused) {
    int error = pthread_rwlock_tryrdlock(&lock);
    assert(error == 0 || error == EBUSY);
    if (!error) {
        assert(value == 0 || value == 1);
        assert(pthread_rwlock_tryrdlock(&lock) == 0);
        assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
        pthread_rwlock_unlock(&lock);
        pthread_rwlock_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_rwlock_init(&lock, 0);
    pthread_create(&ids[0], 0, writer, 0);
    pthread_create(&ids[1], 0, reader, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    pthread_rwlock_destroy(&lock);
}
