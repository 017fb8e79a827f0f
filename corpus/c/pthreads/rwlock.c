// Readers share a lock, writers do not. BROKEN writes with the lock of a reader.
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int first, second;

static void *writer(void *unused) {
#ifdef BROKEN
    pthread_rwlock_rdlock(&lock);
#else
    pthread_rwlock_wrlock(&lock);
#endif
    first++;
    second++;
    pthread_rwlock_unlock(&lock);
    return 0;
}

static void *reader(void *unused) {
    pthread_rwlock_rdlock(&lock);
    assert(first == second);
    pthread_rwlock_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t ids[3];
    pthread_create(&ids[0], 0, writer, 0);
    pthread_create(&ids[1], 0, reader, 0);
    pthread_create(&ids[2], 0, reader, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(ids[i], 0);
}
