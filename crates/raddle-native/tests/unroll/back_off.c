// Two threads that back off for each other, without a turn: none of them need ever enter.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2];

static void enter(long own) {
    atomic_store(&wants[own], 1);
    while (atomic_load(&wants[1 - own])) {
        atomic_store(&wants[own], 0);
        atomic_store(&wants[own], 1);
    }
}

static void *work(void *argument) {
    long own = (long)argument;
    enter(own);
    atomic_store(&wants[own], 0);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long own = 0; own < 2; own++)
        pthread_create(&threads[own], 0, work, (void *)own);
    for (int own = 0; own < 2; own++)
        pthread_join(threads[own], 0);
    return 0;
}
