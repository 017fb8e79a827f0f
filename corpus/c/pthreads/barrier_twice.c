// A barrier that is used again at once.
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static int values[2];

static void *run(void *argument) {
    long i = (long)argument;
    for (int round = 1; round <= 2; round++) {
        values[i] = round;
        pthread_barrier_wait(&barrier);
        assert(values[1 - i] == round);
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_barrier_init(&barrier, 0, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
}
