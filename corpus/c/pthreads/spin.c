// The spin lock of POSIX.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_spinlock_t lock;
static int counter;

static void *run(void *unused) {
    pthread_spin_lock(&lock);
    counter++;
    assert(pthread_spin_trylock(&lock) == EBUSY);
    pthread_spin_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    assert(counter == 2);
    pthread_spin_destroy(&lock);
}
