// Vyukov's stack for a fixed number of elements, in an array. Two threads take the same element: that needs three threads,
// four rounds, and one exchange of push that fails in each of two of them. An exhaustive search of the states of this
// program under SC finds it with these bounds, and none with three rounds or where push succeeds at once.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef SIZE
#define SIZE 3
#endif
#ifndef TIMES
#define TIMES 2
#endif

static atomic_int head, count, next[SIZE];
static int value[SIZE];

static int pop(void) {
    while (atomic_load(&count) > 1) {
        int first = atomic_load(&head);
        int second = atomic_exchange(&next[first], -1);
        if (second >= 0) {
            int expected = first;
            if (atomic_compare_exchange_strong(&head, &expected, second)) {
                atomic_fetch_sub(&count, 1);
                return first;
            }
            atomic_exchange(&next[first], second);
        }
    }
    return -1;
}

static void push(int index) {
    int first = atomic_load(&head);
    do
        atomic_store(&next[index], first);
    while (!atomic_compare_exchange_strong(&head, &first, index));
    atomic_fetch_add(&count, 1);
}

static void *run(void *argument) {
    int me = (int)(long)argument;
    for (int i = 0; i < TIMES; i++) {
        int index;
        do
            index = pop();
        while (index < 0);
        value[index] = me;
        assert(value[index] == me);
        push(index);
    }
    return 0;
}

int main(void) {
    atomic_store(&count, SIZE);
    for (int i = 0; i + 1 < SIZE; i++)
        atomic_store(&next[i], i + 1);
    atomic_store(&next[SIZE - 1], -1);
    pthread_t ids[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&ids[i], 0, run, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(ids[i], 0);
}
