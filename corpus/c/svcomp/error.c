// The function of the competition that must not be reached.
#include <pthread.h>
#include <stdatomic.h>

extern void reach_error(void);

static atomic_int x;

static void *run(void *unused) {
    atomic_fetch_add(&x, 1);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    atomic_fetch_add(&x, 1);
    if (atomic_load(&x) == 2)
        reach_error();
    pthread_join(id, 0);
}
