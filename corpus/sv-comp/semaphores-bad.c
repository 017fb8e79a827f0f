// A buffer with one slot. It has room for two.
#include <pthread.h>
#include <semaphore.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

static sem_t full, empty;
static int slot, sum;
static void *produce(void *unused) {
    for (int i = 1; i <= 2; i++) {
        sem_wait(&empty);
        slot = i;
        sem_post(&full);
    }
    return 0;
}
static void *consume(void *unused) {
    for (int i = 1; i <= 2; i++) {
        sem_wait(&full);
        sum += slot;
        sem_post(&empty);
    }
    return 0;
}
int main(void) {
    pthread_t ids[2];
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 2);
    pthread_create(&ids[0], 0, produce, 0);
    pthread_create(&ids[1], 0, consume, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    __VERIFIER_assert(sum == 3);
    return 0;
}
