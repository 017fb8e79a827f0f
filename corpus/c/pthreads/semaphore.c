// Two threads pass a ball with semaphores. BROKEN starts with two balls.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t turn[2];
static int inside;

static void *run(void *argument) {
    long i = (long)argument;
    for (int k = 0; k < 2; k++) {
        sem_wait(&turn[i]);
        assert(inside == 0);
        inside = 1;
        inside = 0;
        sem_post(&turn[1 - i]);
    }
    return 0;
}

int main(void) {
    pthread_t ids[2];
    sem_init(&turn[0], 0, 1);
#ifdef BROKEN
    sem_init(&turn[1], 0, 1);
#else
    sem_init(&turn[1], 0, 0);
#endif
    for (long i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    int left;
    sem_getvalue(&turn[0], &left);
    assert(left == 1 && sem_trywait(&turn[0]) == 0 && sem_trywait(&turn[0]) == -1);
    sem_destroy(&turn[0]);
    sem_destroy(&turn[1]);
}
