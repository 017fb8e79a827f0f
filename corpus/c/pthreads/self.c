// Threads know who they are.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static void *run(void *result) {
    *(pthread_t *)result = pthread_self();
    return 0;
}

int main(void) {
    pthread_t id, same;
    pthread_create(&id, 0, run, &same);
    pthread_join(id, 0);
    assert(pthread_equal(id, same));
    assert(!pthread_equal(id, pthread_self()));
    assert(pthread_equal(pthread_self(), pthread_self()));
}
