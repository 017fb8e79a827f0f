// Programs whose threads all run the same function.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef N
#define N 3
#endif

// Starts N threads with the same argument, and joins them.
static void threads(void *run(void *)) {
    pthread_t all[N];
    for (int i = 0; i < N; i++)
        pthread_create(&all[i], 0, run, 0);
    for (int i = 0; i < N; i++)
        pthread_join(all[i], 0);
}
