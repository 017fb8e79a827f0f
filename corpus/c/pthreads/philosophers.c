// Philosophers with one fork between any two. ORDERED ones take the lower fork first.
#include <pthread.h>

#ifndef N
#define N 3
#endif

static pthread_mutex_t forks[N];

static void *run(void *argument) {
    int left = (int)(long)argument, right = (left + 1) % N;
#ifdef ORDERED
    if (left > right) {
        left = right;
        right = N - 1;
    }
#endif
    pthread_mutex_lock(&forks[left]);
    pthread_mutex_lock(&forks[right]);
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
    return 0;
}

int main(void) {
    pthread_t ids[N];
    for (int i = 0; i < N; i++)
        pthread_mutex_init(&forks[i], 0);
    for (long i = 0; i < N; i++)
        pthread_create(&ids[i], 0, run, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(ids[i], 0);
}
