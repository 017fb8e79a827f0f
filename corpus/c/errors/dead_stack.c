// A variable on the stack of a thread, or a thread-local one, is read after the thread has ended.
#include <pthread.h>

static int *pointer;
#ifdef LOCAL
static __thread int value;
#endif

static void *run(void *unused) {
#ifndef LOCAL
    int value;
#endif
    value = 3;
    pointer = &value;
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    pthread_join(id, 0);
    return *pointer;
}
