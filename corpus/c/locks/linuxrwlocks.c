// The reader-writer spin lock of the Linux kernel before 3.16: readers take one, a writer takes all.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define ACQUIRE memory_order_relaxed
#define RELEASE memory_order_relaxed
#else
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#endif

#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef READERS
#define READERS 1
#endif

enum { ALL = 1 << 20 };

static atomic_int left = ALL;
static int first, second;

static void *writer(void *unused) {
    while (atomic_fetch_sub_explicit(&left, ALL, ACQUIRE) != ALL) {
        atomic_fetch_add_explicit(&left, ALL, memory_order_relaxed);
        while (atomic_load_explicit(&left, memory_order_relaxed) != ALL)
            ;
    }
    first++;
    second++;
    atomic_fetch_add_explicit(&left, ALL, RELEASE);
    return 0;
}

static void *reader(void *unused) {
    while (atomic_fetch_sub_explicit(&left, 1, ACQUIRE) <= 0) {
        atomic_fetch_add_explicit(&left, 1, memory_order_relaxed);
        while (atomic_load_explicit(&left, memory_order_relaxed) <= 0)
            ;
    }
    assert(first == second);
    atomic_fetch_add_explicit(&left, 1, RELEASE);
    return 0;
}

int main(void) {
    pthread_t ids[WRITERS + READERS];
    for (int i = 0; i < WRITERS + READERS; i++)
        pthread_create(&ids[i], 0, i < WRITERS ? writer : reader, 0);
    for (int i = 0; i < WRITERS + READERS; i++)
        pthread_join(ids[i], 0);
    assert(first == WRITERS && second == WRITERS);
}
