// A mutex that is used after it was destroyed.
#include <pthread.h>

int main(void) {
    pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, 0);
    pthread_mutex_destroy(&mutex);
    pthread_mutex_lock(&mutex);
}
