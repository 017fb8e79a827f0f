// N threads read what another one writes.
#include "threads.h"

static atomic_int x;

static void *write(void *argument) {
    atomic_store(&x, 1);
    return 0;
}

static void *run(void *argument) {
    atomic_load(&x);
    return 0;
}

int main(void) {
    pthread_t writer;
    pthread_create(&writer, 0, write, 0);
    threads(run);
    pthread_join(writer, 0);
}
