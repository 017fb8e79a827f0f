// A thread waits for another one. It does not look before it waits.
#include <pthread.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;
static void *tell(void *unused) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return 0;
}
static void *hear(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&condition, &mutex);
    __VERIFIER_assert(ready);
    pthread_mutex_unlock(&mutex);
    return 0;
}
int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, tell, 0);
    pthread_create(&ids[1], 0, hear, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    return 0;
}
