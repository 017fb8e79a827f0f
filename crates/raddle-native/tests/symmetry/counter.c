// N threads increment a counter: not atomically, atomically, or under a lock.
#include "threads.h"

static atomic_int x;
static int plain, seen[N + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *argument) {
#if defined(LOCK)
    pthread_mutex_lock(&lock);
    plain++;
    pthread_mutex_unlock(&lock);
#elif defined(ADD)
    int before = atomic_fetch_add(&x, 1);
    assert(before < N);
#elif defined(BLIND)
    atomic_fetch_add(&x, 1);
#elif defined(CAS)
    int before = atomic_load(&x);
    while (!atomic_compare_exchange_strong(&x, &before, before + 1))
        ;
#elif defined(TRY)
    int before = atomic_load(&x);
    atomic_compare_exchange_strong(&x, &before, before + 1);
#else
    int before = atomic_load(&x);
    atomic_store(&x, before + 1);
#endif
    return 0;
}

int main(void) {
    threads(run);
#if defined(ADD) || defined(BLIND) || defined(CAS)
    assert(x == N);
#endif
}
