// Threads that nobody waits for. When main ends, the program ends.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *run(void *unused) {
    atomic_store(&x, 1);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_attr_t attributes;
    pthread_create(&id, 0, run, 0);
    pthread_detach(id);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&id, &attributes, run, 0);
    pthread_attr_destroy(&attributes);
    atomic_load(&x);
}
