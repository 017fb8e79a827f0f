// A lock that exchanges until it was free, taken twice by each thread.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { N = 3 };

static atomic_int lock;
static int data;

static void *run(void *unused) {
    for (int i = 0; i < 2; i++) {
        while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
            ;
        data++;
        atomic_store_explicit(&lock, 0, memory_order_release);
    }
    return 0;
}

int main(void) {
    pthread_t ids[N];
    for (int i = 0; i < N; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < N; i++)
        pthread_join(ids[i], 0);
    assert(data == 2 * N);
}
