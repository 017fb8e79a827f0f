// What the locks have in common: threads that count under a lock. A lock that is too weak is a race under
// the models of C.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef BROKEN
#define ACQUIRE memory_order_relaxed
#define RELEASE memory_order_relaxed
#else
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#endif

#ifndef THREADS
#define THREADS 2
#endif

static int counter;

// What a thread does.
static void *run(void *argument);

int main(void) {
    pthread_t ids[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&ids[i], 0, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], 0);
    assert(counter == THREADS);
}
