// Store buffering. Between the store and the load of each thread is an atomic access of a variable that only this
// thread uses: nobody can see it, but it empties the buffer, and sequentially consistent accesses are ordered by it.
// -DUPDATE: an update; -DSTORE: a sequentially consistent store; otherwise a relaxed store, which does nothing.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int x, y, own0, own1, seen[2];

static void between(atomic_int *own) {
#if defined(UPDATE)
    atomic_exchange(own, 7);
#elif defined(STORE)
    atomic_store(own, 7);
#else
    atomic_store_explicit(own, 7, memory_order_relaxed);
#endif
}

static void *left(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    between(&own0);
    atomic_store_explicit(&seen[0], atomic_load_explicit(&y, memory_order_relaxed), memory_order_relaxed);
    return arg;
}

static void *right(void *arg) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    between(&own1);
    atomic_store_explicit(&seen[1], atomic_load_explicit(&x, memory_order_relaxed), memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, left, NULL);
    pthread_create(&threads[1], NULL, right, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(seen[0] || seen[1]);
}
