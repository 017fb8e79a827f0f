// A program that says itself that something is wrong is not wrong for that: its status is not looked at.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x;

static void *run(void *unused) {
    atomic_store(&x, 1);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    if (atomic_load(&x))
        exit(1);
    pthread_join(id, 0);
    return 2;
}
