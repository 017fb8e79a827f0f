// What POSIX forbids to do with synchronization objects. The argument chooses a function.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t fresh_mutex;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore, zeroed;
static mtx_t c11_mutex;
static cnd_t c11_condition;

static pthread_t start(void *(*run)(void *)) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    return id;
}

static void join(pthread_t id) {
    pthread_join(id, 0);
}

static void *lock_and_unlock(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}
static void *only_lock(void *unused) {
    pthread_mutex_lock(&mutex);
    return 0;
}

static void init_own_held_mutex(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_init(&mutex, 0);
}
static void init_held_mutex(void) {
    pthread_t id = start(lock_and_unlock);
    pthread_mutex_init(&mutex, 0);
    join(id);
}
static void init_free_mutex(void) {
    pthread_mutex_init(&mutex, 0);
    join(start(lock_and_unlock));
}
static void init_mutex_twice(void) {
    pthread_mutex_init(&fresh_mutex, 0);
    pthread_mutex_init(&fresh_mutex, 0);
}
static void init_mutex_again(void) {
    for (int round = 0; round < 2; round++) {
        pthread_mutex_init(&fresh_mutex, 0);
        pthread_mutex_lock(&fresh_mutex);
        pthread_mutex_unlock(&fresh_mutex);
        pthread_mutex_destroy(&fresh_mutex);
    }
}
static void init_local_mutex(void) {
    pthread_mutex_t local;
    pthread_mutex_init(&local, 0);
}
static void init_local_mutexes(void) {
    init_local_mutex();
    init_local_mutex();
}
static void destroy_own_locked_mutex(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_destroy(&mutex);
}
static void destroy_locked_mutex(void) {
    pthread_t id = start(lock_and_unlock);
    pthread_mutex_destroy(&mutex);
    join(id);
}
static void destroy_abandoned_mutex(void) {
    join(start(only_lock));
    pthread_mutex_destroy(&mutex);
}
static void destroy_free_mutex(void) {
    join(start(lock_and_unlock));
    pthread_mutex_destroy(&mutex);
}

static void *take(void *unused) {
    sem_wait(&semaphore);
    return 0;
}
static void zeroed_semaphore(void) {
    sem_wait(&zeroed);
}
static void destroyed_semaphore(void) {
    sem_init(&semaphore, 0, 1);
    sem_destroy(&semaphore);
    sem_wait(&semaphore);
}
static void awaited_semaphore(void) {
    sem_init(&semaphore, 0, 0);
    start(take);
    sem_destroy(&semaphore);
}
static void init_semaphore_twice(void) {
    sem_init(&semaphore, 0, 0);
    sem_init(&semaphore, 0, 1);
}
static void good_semaphore(void) {
    for (int round = 0; round < 2; round++) {
        sem_init(&semaphore, 0, 0);
        pthread_t id = start(take);
        sem_post(&semaphore);
        join(id);
        sem_destroy(&semaphore);
    }
}

static void *arrive(void *unused) {
    pthread_barrier_wait(&barrier);
    return 0;
}
static void *arrive_and_ask(void *unused) {
    int result = pthread_barrier_wait(&barrier);
    assert(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    return 0;
}
static void uninitialised_barrier(void) {
    pthread_barrier_wait(&barrier);
}
static void destroyed_barrier(void) {
    pthread_barrier_init(&barrier, 0, 1);
    pthread_barrier_destroy(&barrier);
    pthread_barrier_wait(&barrier);
}
static void awaited_barrier(void) {
    pthread_barrier_init(&barrier, 0, 2);
    start(arrive);
    pthread_barrier_destroy(&barrier);
}
static void awaited_counting_barrier(void) {
    pthread_barrier_init(&barrier, 0, 2);
    start(arrive_and_ask);
    pthread_barrier_destroy(&barrier);
}
static void init_barrier_twice(void) {
    pthread_barrier_init(&barrier, 0, 2);
    pthread_barrier_init(&barrier, 0, 2);
}
static void meet(void *(*how)(void *)) {
    for (int round = 0; round < 2; round++) {
        pthread_barrier_init(&barrier, 0, 2);
        pthread_t id = start(how);
        how(0);
        pthread_barrier_destroy(&barrier);
        join(id);
    }
}
static void good_barrier(void) {
    meet(arrive);
}
static void good_counting_barrier(void) {
    meet(arrive_and_ask);
}

static int is_ready, is_waiting;
static void *await(void *unused) {
    pthread_mutex_lock(&mutex);
    is_waiting = 1;
    while (!is_ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}
static void set_ready(void) {
    pthread_mutex_lock(&mutex);
    is_ready = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
}
static void destroyed_condition(void) {
    pthread_cond_destroy(&condition);
    pthread_cond_signal(&condition);
}
static int is_awaited(void) {
    start(await);
    pthread_mutex_lock(&mutex);
    int result = is_waiting;
    pthread_mutex_unlock(&mutex);
    return result;
}
static void awaited_condition(void) {
    if (is_awaited())
        pthread_cond_destroy(&condition);
}
static void init_awaited_condition(void) {
    if (is_awaited())
        pthread_cond_init(&condition, 0);
}
static void init_condition_twice(void) {
    pthread_cond_init(&condition, 0);
    pthread_cond_init(&condition, 0);
}
static void good_condition(void) {
    pthread_t id = start(await);
    set_ready();
    pthread_mutex_lock(&mutex);
    pthread_cond_destroy(&condition);
    pthread_mutex_unlock(&mutex);
    join(id);
    pthread_cond_init(&condition, 0);
    pthread_cond_signal(&condition);
    pthread_cond_destroy(&condition);
}
static void local_condition(void) {
    pthread_cond_t local = PTHREAD_COND_INITIALIZER;
    pthread_cond_signal(&local);
    pthread_cond_broadcast(&local);
    pthread_cond_destroy(&local);
}
static void local_conditions(void) {
    local_condition();
    local_condition();
}

static void *read_lock(void *unused) {
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    return 0;
}
static void *only_read_lock(void *unused) {
    pthread_rwlock_rdlock(&rwlock);
    return 0;
}
static void *only_unlock(void *unused) {
    pthread_rwlock_unlock(&rwlock);
    return 0;
}
static void destroyed_rwlock_to_read(void) {
    pthread_rwlock_destroy(&rwlock);
    pthread_rwlock_rdlock(&rwlock);
}
static void destroyed_rwlock_to_write(void) {
    pthread_rwlock_destroy(&rwlock);
    pthread_rwlock_wrlock(&rwlock);
}
static void destroyed_rwlock_to_try(void) {
    pthread_rwlock_destroy(&rwlock);
    pthread_rwlock_trywrlock(&rwlock);
}
static void destroy_held_rwlock(void) {
    join(start(only_read_lock));
    pthread_rwlock_destroy(&rwlock);
}
static void init_held_rwlock(void) {
    join(start(only_read_lock));
    pthread_rwlock_init(&rwlock, 0);
}
static void init_rwlock_twice(void) {
    pthread_rwlock_init(&rwlock, 0);
    pthread_rwlock_init(&rwlock, 0);
}
static void unlock_rwlock_of_another(void) {
    pthread_rwlock_wrlock(&rwlock);
    join(start(only_unlock));
}
static void good_rwlock(void) {
    pthread_t id = start(read_lock);
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    join(id);
    pthread_rwlock_destroy(&rwlock);
    pthread_rwlock_init(&rwlock, 0);
    assert(pthread_rwlock_trywrlock(&rwlock) == 0);
    pthread_rwlock_unlock(&rwlock);
}
static void local_rwlock(void) {
    pthread_rwlock_t local = PTHREAD_RWLOCK_INITIALIZER;
    pthread_rwlock_rdlock(&local);
    pthread_rwlock_unlock(&local);
    pthread_rwlock_wrlock(&local);
    pthread_rwlock_unlock(&local);
    pthread_rwlock_destroy(&local);
}
static void local_rwlocks(void) {
    local_rwlock();
    local_rwlock();
}

static void *spin_and_release(void *unused) {
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    return 0;
}
static void *only_spin(void *unused) {
    pthread_spin_lock(&spin);
    return 0;
}
static void destroyed_spin_lock(void) {
    pthread_spin_init(&spin, 0);
    pthread_spin_destroy(&spin);
    pthread_spin_lock(&spin);
}
static void destroy_spin_lock_in_use(void) {
    pthread_spin_init(&spin, 0);
    pthread_t id = start(spin_and_release);
    pthread_spin_destroy(&spin);
    join(id);
}
static void destroy_held_spin_lock(void) {
    pthread_spin_init(&spin, 0);
    join(start(only_spin));
    pthread_spin_destroy(&spin);
}
static void init_spin_lock_twice(void) {
    pthread_spin_init(&spin, 0);
    pthread_spin_init(&spin, 0);
}
static void good_spin_lock(void) {
    for (int round = 0; round < 2; round++) {
        pthread_spin_init(&spin, 0);
        pthread_t id = start(spin_and_release);
        spin_and_release(0);
        join(id);
        pthread_spin_destroy(&spin);
    }
}

static void good_c11_objects(void) {
    for (int round = 0; round < 2; round++) {
        mtx_init(&c11_mutex, mtx_plain);
        cnd_init(&c11_condition);
        mtx_lock(&c11_mutex);
        cnd_signal(&c11_condition);
        mtx_unlock(&c11_mutex);
        cnd_destroy(&c11_condition);
        mtx_destroy(&c11_mutex);
    }
}
static void destroyed_c11_condition(void) {
    cnd_init(&c11_condition);
    cnd_destroy(&c11_condition);
    cnd_signal(&c11_condition);
}
static void heap_mutexes(void) {
    for (int round = 0; round < 2; round++) {
        pthread_mutex_t *one = malloc(sizeof *one);
        pthread_mutex_init(one, 0);
        free(one);
    }
}

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(init_own_held_mutex), CASE(init_held_mutex), CASE(init_free_mutex), CASE(init_mutex_twice),
    CASE(init_mutex_again), CASE(init_local_mutexes), CASE(destroy_own_locked_mutex), CASE(destroy_locked_mutex),
    CASE(destroy_abandoned_mutex), CASE(destroy_free_mutex), CASE(zeroed_semaphore), CASE(destroyed_semaphore),
    CASE(awaited_semaphore), CASE(init_semaphore_twice), CASE(good_semaphore), CASE(uninitialised_barrier),
    CASE(destroyed_barrier), CASE(awaited_barrier), CASE(awaited_counting_barrier), CASE(init_barrier_twice),
    CASE(good_barrier), CASE(good_counting_barrier), CASE(destroyed_condition), CASE(awaited_condition),
    CASE(init_awaited_condition), CASE(init_condition_twice), CASE(good_condition), CASE(local_conditions),
    CASE(destroyed_rwlock_to_read), CASE(destroyed_rwlock_to_write), CASE(destroyed_rwlock_to_try),
    CASE(destroy_held_rwlock), CASE(init_held_rwlock), CASE(init_rwlock_twice), CASE(unlock_rwlock_of_another),
    CASE(good_rwlock), CASE(local_rwlocks), CASE(destroyed_spin_lock), CASE(destroy_spin_lock_in_use),
    CASE(destroy_held_spin_lock), CASE(init_spin_lock_twice), CASE(good_spin_lock), CASE(good_c11_objects),
    CASE(destroyed_c11_condition), CASE(heap_mutexes),
};

int main(int argc, char **argv) {
    for (unsigned at = 0; at < sizeof cases / sizeof *cases; at++)
        if (strcmp(argv[1], cases[at].name) == 0) {
            cases[at].run();
            return 0;
        }
    abort();
}
