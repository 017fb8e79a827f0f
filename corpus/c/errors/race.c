// Two threads write a plain variable.
#include <pthread.h>

static int x;

static void *run(void *unused) {
    x = 1;
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    x = 2;
    pthread_join(id, 0);
}
