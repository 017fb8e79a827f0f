// A sequence lock whose readers try again. BROKEN has no fence before the second look.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef READERS
#define READERS 1
#endif

static atomic_int sequence, first, second;

static void *writer(void *unused) {
    int before = atomic_load_explicit(&sequence, memory_order_relaxed);
    while (before % 2 || !atomic_compare_exchange_strong_explicit(&sequence, &before, before + 1,
                                                                  memory_order_acquire,
                                                                  memory_order_relaxed))
        before = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&first, before + 2, memory_order_relaxed);
    atomic_store_explicit(&second, before + 2, memory_order_relaxed);
    atomic_store_explicit(&sequence, before + 2, memory_order_release);
    return 0;
}

static void *reader(void *unused) {
    int before, a, b;
    do {
        while ((before = atomic_load_explicit(&sequence, memory_order_acquire)) % 2)
            ;
        a = atomic_load_explicit(&first, memory_order_relaxed);
        b = atomic_load_explicit(&second, memory_order_relaxed);
#ifndef BROKEN
        atomic_thread_fence(memory_order_acquire);
#endif
    } while (atomic_load_explicit(&sequence, memory_order_relaxed) != before);
    assert(a == before && b == before);
    return 0;
}

int main(void) {
    pthread_t ids[WRITERS + READERS];
    for (int i = 0; i < WRITERS + READERS; i++)
        pthread_create(&ids[i], 0, i < WRITERS ? writer : reader, 0);
    for (int i = 0; i < WRITERS + READERS; i++)
        pthread_join(ids[i], 0);
}
