// The deque of Chase and Lev, with the orders of Le et al., PPoPP 2013. BROKEN lacks the fence of take.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef THIEVES
#define THIEVES 1
#endif

enum { SIZE = 4, NOTHING = 0 };

static atomic_int top, bottom, cells[SIZE];

static void push(int value) {
    int b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&cells[b % SIZE], value, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int take(void) {
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
#ifndef BROKEN
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int t = atomic_load_explicit(&top, memory_order_relaxed);
    int value = NOTHING;
    if (t <= b) {
        value = atomic_load_explicit(&cells[b % SIZE], memory_order_relaxed);
        if (t == b) {
            if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
                                                         memory_order_relaxed))
                value = NOTHING;
            atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        }
    } else {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return value;
}

static int steal(void) {
    int t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    int b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return NOTHING;
    int value = atomic_load_explicit(&cells[t % SIZE], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return NOTHING;
    return value;
}

static atomic_int taken[3];

static void use(int value) {
    if (value != NOTHING)
        assert(atomic_fetch_add_explicit(&taken[value], 1, memory_order_relaxed) == 0);
}

static void *owner(void *unused) {
    push(1);
    push(2);
    use(take());
    use(take());
    return 0;
}

static void *thief(void *unused) {
    use(steal());
    use(steal());
    return 0;
}

int main(void) {
    pthread_t ids[THIEVES + 1];
    pthread_create(&ids[0], 0, owner, 0);
    for (int i = 0; i < THIEVES; i++)
        pthread_create(&ids[i + 1], 0, thief, 0);
    for (int i = 0; i < THIEVES + 1; i++)
        pthread_join(ids[i], 0);
    assert(atomic_load(&taken[1]) + atomic_load(&taken[2]) <= 2);
}
