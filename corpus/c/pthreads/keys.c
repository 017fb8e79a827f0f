// Values that belong to a thread, and what is called with them at its end.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_key_t key;
static atomic_int destroyed;

static void destroy(void *value) {
    assert(value);
    atomic_fetch_add(&destroyed, (int)(long)value);
}

static void *run(void *argument) {
    assert(pthread_getspecific(key) == 0);
    pthread_setspecific(key, argument);
    assert(pthread_getspecific(key) == argument);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    assert(pthread_key_create(&key, destroy) == 0);
    for (long i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    assert(atomic_load(&destroyed) == 3);
    assert(pthread_getspecific(key) == 0);
    pthread_key_delete(key);
}
