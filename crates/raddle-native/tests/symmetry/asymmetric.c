// Threads that look symmetric, and mostly are not.
#include "threads.h"
#include <stdint.h>

static atomic_int x, y;
static _Atomic(uintptr_t) owner;

#if defined(INDEX)
// The index is the argument.
static void *run(void *argument) {
    int before = atomic_fetch_add(&x, 1);
    assert(!(before == 0 && argument == (void *)(N - 1)));
    return 0;
}
#elif defined(SELF)
// The identity of the thread is a number that decides.
static void *run(void *argument) {
    int before = atomic_fetch_add(&x, 1);
    if (before == 0)
        atomic_store(&owner, (uintptr_t)pthread_self());
    return 0;
}
#elif defined(SELF_LATE)
// Only in some histories.
static void *run(void *argument) {
    int before = atomic_fetch_add(&x, 1);
    if (before == N - 1)
        assert(pthread_self() % N != 0);
    return 0;
}
#elif defined(STACK)
// The order of addresses of two stacks.
static void *run(void *argument) {
    int local;
    uintptr_t own = (uintptr_t)&local, other = 0;
    if (!atomic_compare_exchange_strong(&owner, &other, own))
        assert(other < own);
    return 0;
}
#elif defined(HASH)
// A hash of an address in a block.
static void *run(void *argument) {
    char *block = malloc(8);
    atomic_fetch_add(&x, 1);
    if (atomic_load(&x) == 1)
        atomic_store(&y, (int)(((uintptr_t)block >> 36) % 7));
    return 0;
}
#elif defined(XOR)
// Two addresses, combined.
static void *run(void *argument) {
    int local;
    uintptr_t before = atomic_fetch_xor(&owner, (uintptr_t)&local);
    return (void *)(before == 0);
}
#elif defined(OWN_RESULT)
// The joiner compares what results point to.
static void *run(void *argument) {
    int *block = malloc(sizeof *block);
    *block = atomic_fetch_add(&x, 1);
    return block;
}
#elif defined(DRAIN)
// The joiner follows pointers to blocks of all threads.
struct node {
    struct node *next;
};
static struct node *_Atomic top;

static void *run(void *argument) {
    struct node *node = malloc(sizeof *node);
    node->next = atomic_exchange(&top, node);
    return 0;
}
#elif defined(RESULT)
// The joiner compares results.
static void *run(void *argument) {
    return (void *)(uintptr_t)(atomic_fetch_add(&x, 1) + 1);
}
#else
static void *run(void *argument) {
    atomic_fetch_add(&x, 1);
    atomic_store(&y, atomic_load(&x));
    return 0;
}
#endif

int main(void) {
    pthread_t all[N];
    void *results[N];
    for (int i = 0; i < N; i++) {
#ifdef INDEX
        pthread_create(&all[i], 0, run, (void *)(uintptr_t)i);
#else
        pthread_create(&all[i], 0, run, 0);
#endif
#ifdef BETWEEN
        if (i == 0)
            assert(atomic_exchange(&x, 10) == 0);
#endif
    }
    for (int i = 0; i < N; i++) {
        pthread_join(all[i], &results[i]);
#ifdef BETWEEN_JOINS
        if (i == 0)
            assert(atomic_load(&x) < N);
#endif
    }
#ifdef RESULT
    assert(results[0] < results[N - 1]);
#endif
#ifdef OWN_RESULT
    assert(*(int *)results[0] < *(int *)results[N - 1]);
#endif
#ifdef DRAIN
    int nodes = 0;
    for (struct node *node = top; node; node = node->next)
        nodes++;
    assert(nodes == N);
#endif
#ifdef ONE_RESULT
    assert(y != 1);
#endif
#ifdef SELF
    assert(owner != 3);
#endif
#ifdef XOR
    assert(owner != 0);
#endif
}
