// Each of N threads gets a structure of its own.
#include "threads.h"

struct argument {
    atomic_int *counter;
    int amount;
    int result;
    struct argument *other;
};

static atomic_int x;
static _Atomic(struct argument *) shown;

static void *run(void *data) {
    struct argument *argument = data;
    int before = atomic_load(argument->counter);
#if defined(SHOWN)
    // Others see the structure.
    struct argument *other = atomic_exchange_explicit(&shown, argument, memory_order_relaxed);
    if (other)
        assert(other->amount == 1);
#endif
    atomic_store(argument->counter, before + argument->amount);
#if defined(RESULT) || defined(RESULTS)
    argument->result = before;
#endif
#if defined(FREES)
    free(argument);
#endif
#if defined(CYCLE)
    assert(argument->other == argument || before == 0 || argument->amount == 1);
#endif
    return 0;
}

static struct argument *make(int index) {
    struct argument *argument = malloc(sizeof *argument);
    argument->counter = &x;
#if defined(INDEX)
    argument->amount = index;
#else
    argument->amount = 1;
#endif
    argument->other = argument;
    return argument;
}

int main(void) {
    pthread_t all[N];
    struct argument *arguments[N];
#if defined(FIRST)
    for (int i = 0; i < N; i++)
        arguments[i] = make(i);
#if defined(CYCLE)
    for (int i = 0; i < N; i++)
        arguments[i]->other = arguments[i == N - 1 ? 0 : N - 1];
#endif
    for (int i = 0; i < N; i++)
        pthread_create(&all[i], 0, run, arguments[i]);
#else
    for (int i = 0; i < N; i++) {
        arguments[i] = make(i);
        pthread_create(&all[i], 0, run, arguments[i]);
    }
#endif
    for (int i = 0; i < N; i++)
        pthread_join(all[i], 0);
#if defined(RESULT)
    assert(arguments[0]->result <= arguments[N - 1]->result);
#elif defined(RESULTS)
    int sum = 0;
    for (int i = 0; i < N; i++)
        sum += arguments[i]->result;
    assert(sum >= 0);
#endif
#if !defined(FREES)
    for (int i = 0; i < N; i++)
        free(arguments[i]);
#endif
}
