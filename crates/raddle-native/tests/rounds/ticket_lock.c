// A ticket lock: the ticket decides when a thread may enter.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { N = 5 };

static atomic_int next, serving;
static int data;

static void *run(void *unused) {
    int ticket = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != ticket)
        ;
    data++;
    atomic_store_explicit(&serving, ticket + 1, memory_order_release);
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
