// A thread frees what another one still uses.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int *x;

static void *run(void *unused) {
    atomic_store(x, 1);
    return 0;
}

int main(void) {
    pthread_t id;
    x = malloc(sizeof *x);
    atomic_init(x, 0);
    pthread_create(&id, 0, run, 0);
    free(x);
    pthread_join(id, 0);
}
