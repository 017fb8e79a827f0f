// A loop that ends when another thread says so, and a bug after some rounds.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int count, stop;

static void count_up(void) {
    for (;;) {
        count++;
        if (stop) {
            break;
        }
    }
}

static void *work(void *argument) {
    count_up();
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    stop = 1;
    pthread_join(thread, 0);
    assert(count != 3);
    return 0;
}
