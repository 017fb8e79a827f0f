// The main thread waits for K flags in a row, beside a variable whose address it gives away.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define K 8

static atomic_int flags[K];
static int data;

static void *raise(void *unused) {
    data = 1;
    for (int i = 0; i < K; i++)
        atomic_store_explicit(&flags[i], 1, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t threads[1];
    for (int i = 0; i < 1; i++)
        pthread_create(&threads[i], 0, raise, 0);
    for (int i = 0; i < K; i++)
        while (!atomic_load_explicit(&flags[i], memory_order_acquire))
            ;
    assert(data == 1);
    pthread_join(threads[0], 0);
    return 0;
}
