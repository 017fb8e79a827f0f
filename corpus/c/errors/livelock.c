// A thread spins forever: nobody sets the flag.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *run(void *unused) {
    while (!atomic_load(&flag))
        ;
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    pthread_join(id, 0);
}
