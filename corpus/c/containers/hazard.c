// A reader protects what it reads with a hazard pointer. BROKEN does not look again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *_Atomic object, *_Atomic hazard;

static void *reader(void *unused) {
    int *seen = atomic_load(&object);
    atomic_store(&hazard, seen);
#ifndef BROKEN
    if (atomic_load(&object) != seen)
        return 0;
#endif
    if (seen)
        assert(*seen == 1);
    atomic_store(&hazard, (int *)0);
    return 0;
}

static void *remover(void *unused) {
    int *old = atomic_exchange(&object, (int *)0);
    if (atomic_load(&hazard) != old)
        free(old);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    int *value = malloc(sizeof *value);
    *value = 1;
    atomic_store(&object, value);
    pthread_create(&ids[0], 0, reader, 0);
    pthread_create(&ids[1], 0, remover, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
}
