// An object that dies with its last owner. BROKEN owners let go without telling what they did.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef BROKEN
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_acq_rel
#endif

struct object {
    atomic_int owners;
    int uses[2];
};

static struct object *object;

static void *run(void *argument) {
    object->uses[(long)argument] = 1;
    if (atomic_fetch_sub_explicit(&object->owners, 1, ORDER) == 1)
        free(object);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    object = malloc(sizeof *object);
    atomic_init(&object->owners, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
}
