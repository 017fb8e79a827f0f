// Volatile accesses: with fences, which suffice if the accesses are relaxed atomic ones, or with an argument without.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static volatile int flag, flags[4];
static struct {
    int unused;
    volatile int member;
} object, *pointer = &object;
static int data, with_fences;

static void *publish(void *unused) {
    int index = 2, *at = &index;
    data = 1;
    if (with_fences)
        atomic_thread_fence(memory_order_release);
    flags[*at] = 1;
    pointer->member = 1;
    flag = 1;
    return 0;
}

int main(int argc, char **argv) {
    pthread_t id;
    int index = 2, *at = &index;
    with_fences = argc == 1;
    pthread_create(&id, 0, publish, 0);
    if (flag && pointer->member && flags[*at]) {
        if (with_fences)
            atomic_thread_fence(memory_order_acquire);
        assert(data == 1);
    }
    pthread_join(id, 0);
}
