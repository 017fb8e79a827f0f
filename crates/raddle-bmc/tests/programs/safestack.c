// Vyukov's stack (corpus/bmc/safestack.c). Assumptions fix the values that each operation reads to those of one execution with
// the bug; only the context switches are left to the solver.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern void __VERIFIER_assume(int);

static atomic_int head, count, next[3];
static int value[3];

static int pop(int first, int second) {
    __VERIFIER_assume(atomic_load(&count) > 1);
    __VERIFIER_assume(atomic_load(&head) == first);
    __VERIFIER_assume(atomic_exchange(&next[first], -1) == second);
    int expected = first;
    __VERIFIER_assume(atomic_compare_exchange_strong(&head, &expected, second));
    atomic_fetch_sub(&count, 1);
    return first;
}

static void push(int index, int first, int again) {
    int seen = atomic_load(&head);
    __VERIFIER_assume(seen == first);
    atomic_store(&next[index], seen);
    __VERIFIER_assume(!atomic_compare_exchange_strong(&head, &seen, index));
    __VERIFIER_assume(seen == again);
    atomic_store(&next[index], seen);
    __VERIFIER_assume(atomic_compare_exchange_strong(&head, &seen, index));
    atomic_fetch_add(&count, 1);
}

static void use(int index, int me) {
    value[index] = me;
    assert(value[index] == me);
}

static void *first(void *unused) {
    pop(0, 1);
    return 0;
}

static void *second(void *unused) {
    use(pop(0, 1), 1);
    push(0, 1, 2);
    use(pop(1, 2), 1);
    return 0;
}

static void *third(void *unused) {
    use(pop(1, 2), 2);
    push(1, 2, 1);
    use(pop(1, 1), 2);
    return 0;
}

int main(void) {
    atomic_store(&count, 3);
    atomic_store(&next[0], 1);
    atomic_store(&next[1], 2);
    atomic_store(&next[2], -1);
    pthread_t ids[3];
    pthread_create(&ids[0], 0, first, 0);
    pthread_create(&ids[1], 0, second, 0);
    pthread_create(&ids[2], 0, third, 0);
}
