// A null pointer that another thread left.
#include <pthread.h>
#include <stdatomic.h>

static int value = 1;
static int *_Atomic pointer = &value;

static void *run(void *unused) {
    atomic_store(&pointer, (int *)0);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    *atomic_load(&pointer) = 2;
    pthread_join(id, 0);
}
