// Peterson's algorithm, with stores that release and loads that acquire. Is that enough?
//
//   raddle check examples/peterson.c --model sc      yes, if there are no store buffers
//   raddle check examples/peterson.c --model tso     no: both threads are in the critical section
//   raddle check examples/peterson.c --model tso -- -DFENCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int interested[2], turn, inside;

static void *run(void *argument) {
    int i = (int)(long)argument;
    atomic_store_explicit(&interested[i], 1, memory_order_release);
    atomic_store_explicit(&turn, 1 - i, memory_order_release);
#ifdef FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    while (atomic_load_explicit(&interested[1 - i], memory_order_acquire) &&
           atomic_load_explicit(&turn, memory_order_acquire) != i)
        ;
    int others = atomic_fetch_add(&inside, 1);
    assert(others == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_store_explicit(&interested[i], 0, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, run, (void *)0);
    pthread_create(&second, 0, run, (void *)1);
    pthread_join(first, 0);
    pthread_join(second, 0);
}
