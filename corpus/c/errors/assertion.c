// An assertion that fails in some execution.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *run(void *unused) {
    atomic_store(&x, 1);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    assert(atomic_load(&x) == 0);
    pthread_join(id, 0);
}
