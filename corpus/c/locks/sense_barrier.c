// A sense-reversing barrier. LATE lets the others go before it is ready for them again.
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

#ifndef THREADS
#define THREADS 2
#endif

#ifndef ROUNDS
#define ROUNDS 2
#endif

static atomic_int missing = THREADS, sense;
static int entered[ROUNDS][THREADS];

static void barrier(int mine) {
#ifdef BROKEN
    int before = atomic_fetch_sub_explicit(&missing, 1, memory_order_relaxed);
#else
    int before = atomic_fetch_sub_explicit(&missing, 1, memory_order_acq_rel);
#endif
    if (before != 1) {
        while (atomic_load_explicit(&sense, ACQUIRE) != mine)
            ;
        return;
    }
#ifdef LATE
    atomic_store_explicit(&sense, mine, RELEASE);
#endif
    atomic_store_explicit(&missing, THREADS, memory_order_relaxed);
#ifndef LATE
    atomic_store_explicit(&sense, mine, RELEASE);
#endif
}

static void *run(void *argument) {
    int me = (int)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        entered[round][me] = 1;
        barrier((round + 1) % 2);
        for (int i = 0; i < THREADS; i++)
            assert(entered[round][i]);
    }
    return 0;
}

int main(void) {
    pthread_t ids[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&ids[i], 0, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], 0);
}
