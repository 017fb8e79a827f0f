// What the environment may do, and what counts as an error. The argument chooses a case.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int __VERIFIER_nondet_int(void);
void reach_error(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_ready, seen, x;
static atomic_int flag, other;

static pthread_t start(void *(*run)(void *)) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    return id;
}
static void *set_ready(void *unused) {
    pthread_mutex_lock(&mutex);
    is_ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return 0;
}
static void wait_once(void) {
    pthread_t id = start(set_ready);
    pthread_mutex_lock(&mutex);
    if (!is_ready)
        pthread_cond_wait(&condition, &mutex);
    assert(is_ready);
    pthread_mutex_unlock(&mutex);
    pthread_join(id, 0);
}
static void wait_in_loop(void) {
    pthread_t id = start(set_ready);
    pthread_mutex_lock(&mutex);
    while (!is_ready)
        pthread_cond_wait(&condition, &mutex);
    assert(is_ready);
    pthread_mutex_unlock(&mutex);
    pthread_join(id, 0);
}
static void use_block(void) {
    int *block = malloc(sizeof *block);
    *block = 1;
    free(block);
}
static void check_block(void) {
    int *block = malloc(sizeof *block);
    if (block)
        *block = 1;
    free(block);
}
static void *nothing(void *unused) {
    return 0;
}
static void *start_another(void *unused) {
    pthread_join(start(nothing), 0);
    return 0;
}
static void join_nobody(void) {
    start(nothing);
}
static void join_all(void) {
    pthread_join(start(start_another), 0);
}
static void leave(void) {
    start(nothing);
    pthread_exit(0);
}
static void *wait_for_other(void *unused) {
    while (!other)
        ;
    return 0;
}
static void *fail_if_set(void *unused) {
    assert(!flag);
    return 0;
}
static void livelock_and_assertion(void) {
    start(wait_for_other);
    pthread_t id = start(fail_if_set);
    flag = 1;
    pthread_join(id, 0);
    while (!other)
        ;
}
static void only_livelock(void) {
    pthread_t id = start(wait_for_other);
    pthread_join(id, 0);
}
static void *store_x(void *unused) {
    x = 1;
    return 0;
}
static void race(void) {
    pthread_t id = start(store_x);
    seen = x;
    pthread_join(id, 0);
    assert(!seen);
}
static void *crash(void *unused) {
    *(volatile int *)0 = 1;
    return 0;
}
static void *call_abort(void *unused) {
    abort();
}
static void *reach(void *unused) {
    reach_error();
    return 0;
}
static void crash_and_error(void) {
    start(crash);
    pthread_join(start(reach), 0);
}
static void abort_and_error(void) {
    start(call_abort);
    pthread_join(start(reach), 0);
}
static void error_after_abort(void) {
    pthread_join(start(call_abort), 0);
    reach_error();
}
static void number(void) {
    assert(__VERIFIER_nondet_int() != 7);
}

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(wait_once), CASE(wait_in_loop), CASE(use_block), CASE(check_block), CASE(join_nobody), CASE(join_all),
    CASE(leave), CASE(livelock_and_assertion), CASE(only_livelock), CASE(race), CASE(crash_and_error),
    CASE(abort_and_error), CASE(error_after_abort), CASE(number),
};

int main(int argc, char **argv) {
    for (unsigned at = 0; at < sizeof cases / sizeof *cases; at++)
        if (strcmp(argv[1], cases[at].name) == 0) {
            cases[at].run();
            return 0;
        }
    return 1;
}
