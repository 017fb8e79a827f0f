// What programs use of the C library and of Linux. The first argument chooses a case, a second one its broken variant.
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bad, cleaned;
static atomic_int word;

static void environment(void) {
    assert((getenv("HOME") == 0) == !bad);
}
static void identities(void) {
    assert(getpid() > 0 && getpid() == getpid());
    assert((gettid() == getpid()) == !bad);
}
static void names(void) {
    prctl(PR_SET_NAME, "name");
    pthread_setname_np(pthread_self(), "name");
    assert(!bad);
}
static void affinity(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    assert((pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0) == !bad);
}
static void *wait_for_word(void *unused) {
    while (atomic_load(&word) == 0)
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0);
    return 0;
}
static void futex(void) {
    pthread_t id;
    pthread_create(&id, 0, wait_for_word, 0);
    atomic_store(&word, 1);
    if (!bad)
        syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
    pthread_join(id, 0);
}
static void clean(void *unused) {
    cleaned = 1;
}
static void *leave(void *unused) {
    pthread_cleanup_push(clean, 0);
    if (!bad)
        pthread_exit(0);
    pthread_cleanup_pop(0);
    return 0;
}
static void cleanup(void) {
    pthread_t id;
    pthread_create(&id, 0, leave, 0);
    pthread_join(id, 0);
    assert(cleaned);
}

int main(int argc, char **argv) {
    void (*const cases[])(void) = {environment, identities, names, affinity, futex, cleanup};
    bad = argc > 2;
    cases[atoi(argv[1])]();
}
