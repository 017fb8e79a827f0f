// A writer frees the old version once no reader uses it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct version {
    int value;
};

static _Atomic(struct version *) current;
static atomic_int readers;

static void *read_value(void *argument) {
    atomic_fetch_add(&readers, 1);
    struct version *version = atomic_load(&current);
    int value = version->value;
    assert(value == 1 || value == 2);
    atomic_fetch_sub(&readers, 1);
    return argument;
}

static struct version *new_version(int value) {
    struct version *version = malloc(sizeof *version);
    version->value = value;
    return version;
}

int main(void) {
    struct version *old = new_version(1);
    atomic_store(&current, old);
    pthread_t reader;
    pthread_create(&reader, 0, read_value, 0);
    struct version *new = new_version(2);
    atomic_store(&current, new);
#ifndef BROKEN
    while (atomic_load(&readers))
        ;
#endif
    free(old);
    pthread_join(reader, 0);
    free(new);
    return 0;
}
