// A flag that is set and read with relaxed accesses.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int balance, is_open;

static void *opener(void *unused) {
    atomic_store_explicit(&balance, 100, memory_order_relaxed);
    atomic_store_explicit(&is_open, 1, memory_order_release);
    return 0;
}

static void *customer(void *unused) {
    if (atomic_load_explicit(&is_open, memory_order_relaxed))
        assert(atomic_load_explicit(&balance, memory_order_relaxed) == 100);
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, opener, 0);
    pthread_create(&other, 0, customer, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
}
