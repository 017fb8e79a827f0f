// A thread ends in the middle, and what it returns is what it says there.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int value;

static void leave(void) { pthread_exit(&value); }

static void *run(void *unused) {
    value = 1;
    leave();
    abort();
}

int main(void) {
    pthread_t id;
    void *result;
    pthread_create(&id, 0, run, 0);
    pthread_join(id, &result);
    assert(result == &value && value == 1);
}
