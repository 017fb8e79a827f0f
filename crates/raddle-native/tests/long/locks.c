// Two threads take 31 of 60 locks each, of which they have two in common.

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutexes[60];
static int counts[60];

static void *run(void *argument) {
    long first = (long)argument;
    for (long i = first; i <= first + 30; i++) {
        pthread_mutex_lock(&mutexes[i]);
        counts[i]++;
        pthread_mutex_unlock(&mutexes[i]);
    }
    return NULL;
}

int main(void) {
    for (int i = 0; i < 60; i++)
        pthread_mutex_init(&mutexes[i], NULL);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, run, (void *)0);
    pthread_create(&threads[1], NULL, run, (void *)29);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 60; i++)
        assert(counts[i] == 1 + (i == 29 || i == 30));
    return 0;
}
