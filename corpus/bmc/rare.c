// A thread counts to 16, another looks 16 times. Only one of 600,000,000 executions is wrong.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *count(void *unused) {
    for (int i = 1; i <= 16; i++)
        atomic_store_explicit(&x, i, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t id;
    int right = 1;
    pthread_create(&id, 0, count, 0);
    for (int i = 0; i < 16; i++)
        right &= atomic_load_explicit(&x, memory_order_relaxed) == (i < 8 ? 5 : 11);
    assert(!right);
}
