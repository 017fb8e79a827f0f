// A lock that waits until it seems free before it exchanges.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { N = 5 };

static atomic_int lock;
static int data;

static void *run(void *unused) {
    do {
        while (atomic_load_explicit(&lock, memory_order_relaxed))
            ;
    } while (atomic_exchange_explicit(&lock, 1, memory_order_acquire));
    data++;
    atomic_store_explicit(&lock, 0, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t ids[N];
    for (int i = 0; i < N; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < N; i++)
        pthread_join(ids[i], 0);
    assert(data == N);
}
