// Variables of one byte that lie side by side: some are shared, some belong to one thread, which finds them as it left
// them in its own history, and no others.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int s;
static char shared[2] = {1, 1}, partly[6] = {1, 2, 3, 4, 5, 6};
static char first = 1, second = 1, third = 1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex);
        shared[0] = 7 + i;
        partly[0] = 10 + i;
        pthread_mutex_unlock(&mutex);
        atomic_fetch_add(&s, 1);
    }
    return arg;
}

static void *reader(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex);
        int value = shared[0];
        pthread_mutex_unlock(&mutex);
        assert(value == 1 || value == 7 || value == 8);
        atomic_load(&s);
        assert(++partly[4] == 6 + i);
        assert(++first == 2 + i && ++third == 2 + i && ++second == 2 + i);
    }
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
