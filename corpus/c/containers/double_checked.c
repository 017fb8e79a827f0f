// Double-checked locking. BROKEN publishes the object without a release.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif

static int *_Atomic object;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int *instance(void) {
    int *found = atomic_load_explicit(&object, memory_order_acquire);
    if (!found) {
        pthread_mutex_lock(&mutex);
        found = atomic_load_explicit(&object, memory_order_relaxed);
        if (!found) {
            found = malloc(sizeof *found);
            *found = 42;
            atomic_store_explicit(&object, found, RELEASE);
        }
        pthread_mutex_unlock(&mutex);
    }
    return found;
}

static void *run(void *unused) {
    assert(*instance() == 42);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    free(atomic_load(&object));
}
