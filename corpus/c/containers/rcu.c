// Read-copy-update in user space: a writer frees the old version after every reader was seen outside. BROKEN readers lack
// the fence after they announce themselves.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef READERS
#define READERS 1
#endif

static int *_Atomic current;
static atomic_int inside[READERS];

static void *reader(void *argument) {
    atomic_int *mine = &inside[(long)argument];
    atomic_store_explicit(mine, 1, memory_order_relaxed);
#ifndef BROKEN
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int *seen = atomic_load_explicit(&current, memory_order_acquire);
    assert(*seen == 1 || *seen == 2);
    atomic_store_explicit(mine, 0, memory_order_release);
    return 0;
}

static int *new_version(int value) {
    int *version = malloc(sizeof *version);
    *version = value;
    return version;
}

static void synchronize(void) {
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < READERS; i++)
        while (atomic_load_explicit(&inside[i], memory_order_acquire))
            ;
}

int main(void) {
    pthread_t ids[READERS];
    int *old = new_version(1), *new = new_version(2);
    atomic_init(&current, old);
    for (long i = 0; i < READERS; i++)
        pthread_create(&ids[i], 0, reader, (void *)i);
    atomic_store_explicit(&current, new, memory_order_release);
    synchronize();
    free(old);
    for (int i = 0; i < READERS; i++)
        pthread_join(ids[i], 0);
    free(new);
}
