// Runs N threads from start to end. Every program defines N and what a thread does.
#include <pthread.h>

static void *run(void *unused);

static void run_threads(void) {
    pthread_t ids[N];
    for (int i = 0; i < N; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < N; i++)
        pthread_join(ids[i], 0);
}
