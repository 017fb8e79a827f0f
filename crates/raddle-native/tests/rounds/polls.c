// Threads that poll an object by attempts to take it: KIND says how. NEVER: nobody gives it back. TWO: three threads.

#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SEMAPHORE 1
#define TIMED_SEMAPHORE 2
#define READER 3
#define TIMED_READER 4
#define WRITER 5
#define MUTEX 6
#define SPIN 7
#define FUTEX 8

static sem_t semaphore;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static atomic_int word = 1;
static int data;

static int attempt(void) {
#if KIND == SEMAPHORE
    return sem_trywait(&semaphore);
#elif KIND == TIMED_SEMAPHORE
    struct timespec deadline = {2000000000, 0};
    return sem_timedwait(&semaphore, &deadline);
#elif KIND == READER
    return pthread_rwlock_tryrdlock(&lock);
#elif KIND == TIMED_READER
    struct timespec deadline = {2000000000, 0};
    return pthread_rwlock_timedrdlock(&lock, &deadline);
#elif KIND == WRITER
    return pthread_rwlock_trywrlock(&lock);
#elif KIND == MUTEX
    return pthread_mutex_trylock(&mutex);
#elif KIND == SPIN
    return pthread_spin_trylock(&spin);
#elif KIND == FUTEX
    int free = 0;
    if (atomic_compare_exchange_strong(&word, &free, 1))
        return 0;
    // The word is never 2, so the call returns at once.
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
    return 1;
#endif
}

static void give_back(void) {
#ifndef NEVER
#if KIND == SEMAPHORE || KIND == TIMED_SEMAPHORE
    sem_post(&semaphore);
#elif KIND == MUTEX
    pthread_mutex_unlock(&mutex);
#elif KIND == SPIN
    pthread_spin_unlock(&spin);
#elif KIND == FUTEX
    atomic_store(&word, 0);
#else
    pthread_rwlock_unlock(&lock);
#endif
#endif
}

static void *poll(void *unused) {
    while (attempt())
        ;
    assert(data == 42);
    give_back();
    return unused;
}

// The main thread holds the object at first.
int main(void) {
    pthread_t ids[2];
    int threads = 1;
#ifdef TWO
    threads = 2;
#endif
    sem_init(&semaphore, 0, 0);
    pthread_spin_init(&spin, 0);
#if KIND == MUTEX
    pthread_mutex_lock(&mutex);
#elif KIND == SPIN
    pthread_spin_lock(&spin);
#elif KIND != FUTEX
    pthread_rwlock_wrlock(&lock);
#endif
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], 0, poll, 0);
    data = 42;
    give_back();
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], 0);
    return 0;
}
