// What a program prints is shown for the execution that fails, and for no other.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int x;

static void *run(void *unused) {
    int seen = atomic_load(&x);
    printf("saw %d\n", seen);
    assert(seen == 0);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    puts("storing");
    atomic_store(&x, 1);
    pthread_join(id, 0);
    fprintf(stderr, "%s\n", "not seen");
}
