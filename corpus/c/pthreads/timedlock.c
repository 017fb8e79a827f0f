// A lock with a deadline, which may pass at any time. BROKEN does not look whether it did.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused) {
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 1;
    int error = pthread_mutex_timedlock(&mutex, &deadline);
#ifndef BROKEN
    if (error) {
        assert(error == ETIMEDOUT);
        return 0;
    }
#else
    (void)error;
#endif
    counter++;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    assert(counter == 1 || counter == 2);
}
