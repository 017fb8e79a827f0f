// A thread is joined twice; with OTHERS by two threads.
#include <pthread.h>

static pthread_t id;

static void *run(void *unused) { return 0; }

static void *join(void *unused) {
    pthread_join(id, 0);
    return 0;
}

int main(void) {
    pthread_create(&id, 0, run, 0);
#ifdef OTHERS
    pthread_t other;
    pthread_create(&other, 0, join, 0);
    pthread_join(id, 0);
    pthread_join(other, 0);
#else
    join(0);
    join(0);
#endif
}
