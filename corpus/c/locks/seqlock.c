// A sequence lock with atomic data, after Boehm, MSPC 2012. BROKEN has no fence before the second look.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int sequence, first, second;

static void *writer(void *unused) {
    atomic_store_explicit(&sequence, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&first, 1, memory_order_relaxed);
    atomic_store_explicit(&second, 1, memory_order_relaxed);
    atomic_store_explicit(&sequence, 2, memory_order_release);
    return 0;
}

static void *reader(void *unused) {
    int before = atomic_load_explicit(&sequence, memory_order_acquire);
    if (before % 2)
        return 0;
    int a = atomic_load_explicit(&first, memory_order_relaxed);
    int b = atomic_load_explicit(&second, memory_order_relaxed);
#ifndef BROKEN
    atomic_thread_fence(memory_order_acquire);
#endif
    int after = atomic_load_explicit(&sequence, memory_order_relaxed);
    if (before == after)
        assert(a == b);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, writer, 0);
    pthread_create(&ids[1], 0, reader, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
}
