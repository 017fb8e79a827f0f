// A bug of a Java virtual machine: a thread that takes its permit and then sees nothing to do goes to sleep; who wakes it
// up gives it a permit. Without a fence the permit that was taken is taken back late, and the wake-up is lost.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef FENCED
#define FENCE atomic_thread_fence(memory_order_seq_cst)
#else
#define FENCE (void)0
#endif

static int counter = 1, done, has_seen, sleeps;

static void *parker(void *unused) {
    if (counter > 0) {
        counter = 0;
        FENCE;
    }
    if (done)
        has_seen = 1;
    else
        sleeps = 1;
    return 0;
}

static void *unparker(void *unused) {
    done = 1;
    atomic_thread_fence(memory_order_seq_cst);
    int before = counter;
    counter = 1;
    (void)before;
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, parker, 0);
    pthread_create(&ids[1], 0, unparker, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    assert(has_seen || (sleeps && counter == 1));
}
