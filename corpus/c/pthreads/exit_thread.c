// A thread that is not the main one ends the program. What was given to atexit is done first, by that thread.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x;
static int done;

static void first(void) { done++; }

static void second(void) {
    assert(done == 1);
#ifdef BROKEN
    assert(x != 1);
#endif
}

static void *run(void *unused) {
    atexit(first);
    exit(0);
}

int main(void) {
    pthread_t id;
    atexit(second);
    pthread_create(&id, 0, run, 0);
    x = 1;
    x = 2;
    pthread_join(id, 0);
    abort();
}
