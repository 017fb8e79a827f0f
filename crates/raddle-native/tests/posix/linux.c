// Waiting, cancellation and annotations of other checkers. The first argument chooses a case, a second one its broken variant.
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

int __VERIFIER_load_await_aint(atomic_int *, int condition, int operand);
int __VERIFIER_load_await_i32(atomic_int *, char condition, int operand, char mode);
int __VERIFIER_xchg_await_aint(atomic_int *, int value, int condition, int operand);
void __VERIFIER_loop_begin(void);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(int);
unsigned __VERIFIER_tid(void);

enum { EQUAL = 2, SIGNED_GREATER = 9 };

static int bad, plain, count, descriptor, cleaned;
static atomic_int word, lock;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static pthread_t start(void *(*function)(void *)) {
    pthread_t id;
    pthread_create(&id, 0, function, 0);
    return id;
}
static void *join(pthread_t id) {
    void *result;
    pthread_join(id, &result);
    return result;
}

static void *publish(void *unused) {
    plain = 1;
    word = bad ? 2 : 1;
    return 0;
}
static void await_load(void) {
    pthread_t id = start(publish);
    assert(__VERIFIER_load_await_aint(&word, EQUAL, 1) == 1);
    assert(plain == 1);
    join(id);
}
static void await_signed(void) {
    word = -1;
    pthread_t id = start(publish);
    __VERIFIER_load_await_i32(&word, SIGNED_GREATER, bad ? 2 : 0, 1);
    assert(plain == 1);
    join(id);
}
static void *lock_and_count(void *unused) {
    __VERIFIER_xchg_await_aint(&lock, 1, EQUAL, 0);
    count++;
    lock = bad ? 1 : 0;
    return 0;
}
static void await_exchange(void) {
    pthread_t one = start(lock_and_count), other = start(lock_and_count);
    join(one);
    join(other);
    assert(count == 2);
}
static void marked_loop(void) {
    pthread_t id = start(publish);
    for (__VERIFIER_loop_begin(); __VERIFIER_spin_start(), word != 1; __VERIFIER_spin_end(0))
        ;
    __VERIFIER_spin_end(1);
    assert(plain == 1 && __VERIFIER_tid() == pthread_self());
    join(id);
}
static void sleeps(void) {
    struct timespec before, after, second = {1, 0};
    struct timeval seconds = {1, 500000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    poll(0, 0, 1500);
    select(0, 0, 0, 0, &seconds);
    pselect(0, 0, 0, 0, &second, 0);
    ppoll(0, 0, &second, 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert(after.tv_sec - before.tv_sec == (bad ? 4 : 5));
}
static void *add_five(void *unused) {
    plain = 1;
    if (!bad)
        eventfd_write(descriptor, 5);
    return 0;
}
static void event(void) {
    descriptor = eventfd(0, 0);
    pthread_t id = start(add_five);
    uint64_t read_count;
    assert(read(descriptor, &read_count, 8) == 8);
    assert(read_count == 5 && plain == 1);
    join(id);
    close(descriptor);
}
static void *add_one(void *unused) {
    uint64_t one = 1;
    assert(write(descriptor, &one, 8) == 8);
    return 0;
}
static void event_semaphore(void) {
    descriptor = eventfd(1, EFD_SEMAPHORE);
    pthread_t id = start(add_one);
    eventfd_t read_count;
    for (int round = 0; round < (bad ? 3 : 2); round++)
        assert(eventfd_read(descriptor, &read_count) == 0 && read_count == 1);
    join(id);
}
static void event_that_does_not_block(void) {
    descriptor = eventfd(0, EFD_NONBLOCK);
    pthread_t id = start(add_one);
    eventfd_t read_count = 0;
    int failed = eventfd_read(descriptor, &read_count);
    assert(bad ? !failed : failed || read_count == 1);
    join(id);
}
static void note_cleaning(void *unused) {
    cleaned++;
}
static void *wait_for_semaphore(void *unused) {
    pthread_cleanup_push(note_cleaning, 0);
    sem_wait(&semaphore);
    pthread_cleanup_pop(0);
    return 0;
}
static void cancel_wait(void) {
    sem_init(&semaphore, 0, 0);
    pthread_t id = start(wait_for_semaphore);
    if (!bad)
        pthread_cancel(id);
    assert(join(id) == PTHREAD_CANCELED && cleaned == 1);
}
static void cancel_or_post(void) {
    sem_init(&semaphore, 0, 0);
    pthread_t id = start(wait_for_semaphore);
    pthread_cancel(id);
    sem_post(&semaphore);
    int is_cancelled = join(id) == PTHREAD_CANCELED;
    assert(bad ? is_cancelled : is_cancelled == cleaned);
}
static void unlock(void *unused) {
    if (!bad)
        pthread_mutex_unlock(&mutex);
}
static void *wait_for_condition(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, 0);
    while (!plain)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return 0;
}
static void cancel_condition(void) {
    pthread_t id = start(wait_for_condition);
    pthread_cancel(id);
    assert(join(id) == PTHREAD_CANCELED);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}
static void *test_forever(void *unused) {
    for (;;)
        pthread_testcancel();
}
static void cancel_loop(void) {
    pthread_t id = start(test_forever);
    if (!bad)
        pthread_cancel(id);
    assert(join(id) == PTHREAD_CANCELED);
}
static void *forbid(void *unused) {
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    sleep(1);
    plain = 1;
    if (!bad)
        pthread_setcancelstate(old, &old);
    sleep(1);
    return 0;
}
static void cancel_forbidden(void) {
    pthread_t id = start(forbid);
    pthread_cancel(id);
    void *result = join(id);
    assert(plain == 1 && (!bad || result == PTHREAD_CANCELED));
}

int main(int argc, char **argv) {
    void (*const cases[])(void) = {
        await_load, await_signed, await_exchange, marked_loop, sleeps, event, event_semaphore,
        event_that_does_not_block, cancel_wait, cancel_or_post, cancel_condition, cancel_loop, cancel_forbidden,
    };
    bad = argc > 2;
    cases[atoi(argv[1])]();
}
