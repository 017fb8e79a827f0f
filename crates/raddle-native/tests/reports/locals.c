// Threads that use local variables of others, and an array on the heap.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct slot {
    atomic_int turn;
    int value;
};

struct job {
    struct slot *slots;
    atomic_int *count;
};

static void *work(void *argument) {
    struct job *job = argument;
    atomic_fetch_add(job->count, 1);
    job->slots[2].value = 5;
    atomic_store(&job->slots[2].turn, 1);
    return 0;
}

int main(void) {
    atomic_int count = 0;
    struct slot *slots = calloc(4, sizeof *slots);
    struct job jobs[2] = {{slots, &count}, {slots, &count}};
    pthread_t thread;
    pthread_create(&thread, 0, work, &jobs[1]);
    if (atomic_load(&slots[2].turn) == 1)
        assert(atomic_load(&count) == 2);
    pthread_join(thread, 0);
    free(slots);
}
