// What the programs after the tables of Bui et al., OOPSLA 2021, have in common. Their variables are
// atomic and relaxed, so that they mean something under every model: a store or a load and nothing else.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

typedef atomic_int Int;

#define GET(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define SET(x, value) atomic_store_explicit(&(x), (value), memory_order_relaxed)
#define ADD(x, value) SET(x, GET(x) + (value))

#define LOCK(mutex) pthread_mutex_lock(&(mutex))
#define UNLOCK(mutex) pthread_mutex_unlock(&(mutex))

// The number of a thread, from what it was started with.
#define NUMBER(argument) ((int)(intptr_t)(argument))

// Starts `n` threads, which get their numbers, and waits for them.
static inline void threads(int n, void *(*body)(void *)) {
    pthread_t ids[n];
    for (intptr_t i = 0; i < n; i++)
        pthread_create(&ids[i], 0, body, (void *)i);
    for (int i = 0; i < n; i++)
        pthread_join(ids[i], 0);
}

static inline void locks(pthread_mutex_t *mutexes, int n) {
    for (int i = 0; i < n; i++)
        pthread_mutex_init(&mutexes[i], 0);
}
