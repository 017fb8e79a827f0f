// Atomic sections of SV-COMP. The argument chooses a case.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static int x, y, seen_x, seen_y, one_saw, other_saw;
static atomic_int flag;

/* A case has up to three threads, and a check at the end. */
static void *both(void *unused) {
    __VERIFIER_atomic_begin();
    x = 1;
    y = 1;
    __VERIFIER_atomic_end();
    return 0;
}
static void *both_without_section(void *unused) {
    x = 1;
    y = 1;
    return 0;
}
static void *look(void *unused) {
    seen_x = x;
    seen_y = y;
    return 0;
}
static void *look_in_section(void *unused) {
    __VERIFIER_atomic_begin();
    seen_x = x;
    seen_y = y;
    __VERIFIER_atomic_end();
    return 0;
}
static void x_is_not_later(void) {
    assert(!seen_x || seen_y);
}
static void x_and_y_agree(void) {
    assert(seen_x == seen_y);
}

static void __VERIFIER_atomic_add(int number, int *to) {
    int old = *to;
    *to = old + number;
}
static void add(int number, int *to) {
    int old = *to;
    *to = old + number;
}
static void *add_atomically(void *unused) {
    __VERIFIER_atomic_add(2, &x);
    return 0;
}
static void *add_by_function(void *unused) {
    add(2, &x);
    return 0;
}
static void x_is_four(void) {
    assert(x == 4);
}

static int __VERIFIER_atomic_take(int *lock) {
    if (*lock)
        return 0;
    *lock = 1;
    return 1;
}
static void *take(void *unused) {
    if (__VERIFIER_atomic_take(&y))
        add(1, &x);
    return 0;
}
static void x_is_one(void) {
    assert(x == 1);
}
static void x_is_two(void) {
    assert(x == 2);
}

static void *write_twice(void *unused) {
    __VERIFIER_atomic_begin();
    __VERIFIER_atomic_begin();
    x = 2;
    __VERIFIER_atomic_end();
    x = 1;
    __VERIFIER_atomic_end();
    return 0;
}
static void *look_at_x(void *unused) {
    seen_x = x;
    return 0;
}
static void x_is_never_two(void) {
    assert(seen_x != 2);
}
static void x_is_never_one(void) {
    assert(seen_x != 1);
}
static void *overwrite(void *unused) {
    x = 5;
    return 0;
}
static void *read_back(void *unused) {
    __VERIFIER_atomic_begin();
    x = 1;
    seen_x = x;
    __VERIFIER_atomic_end();
    return 0;
}
static void *read_back_without_section(void *unused) {
    x = 1;
    seen_x = x;
    return 0;
}
static void read_back_one(void) {
    assert(seen_x == 1);
}

/* Through a variable that no section accesses. */
static void *tell(void *unused) {
    one_saw = x;
    flag = 1;
    return 0;
}
static void *hear(void *unused) {
    int told = flag;
    other_saw = told ? y : 2;
    return 0;
}
static void y_follows_x(void) {
    assert(!one_saw || other_saw);
}

static void *wait_for_x(void *unused) {
    while (!x)
        ;
    seen_y = y;
    return 0;
}
static void y_was_seen(void) {
    assert(seen_y == 1);
}
static void *end_only(void *unused) {
    __VERIFIER_atomic_end();
    return 0;
}
static void *lock_inside(void *unused) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    __VERIFIER_atomic_begin();
    pthread_mutex_lock(&mutex);
    return 0;
}

/* Store buffering, which a section observes. */
static void *buffer_x(void *unused) {
    x = 1;
    one_saw = y;
    return 0;
}
static void *buffer_y(void *unused) {
    y = 1;
    other_saw = x;
    return 0;
}
static void one_saw_the_other(void) {
    assert(one_saw || other_saw);
}
static void nothing(void) {
}

static const struct {
    void *(*threads[3])(void *);
    void (*check)(void);
} cases[] = {
    {{both, look}, x_is_not_later},
    {{both_without_section, look}, x_is_not_later},
    {{both_without_section, look_in_section}, x_and_y_agree},
    {{both, look_in_section}, x_and_y_agree},
    {{add_atomically, add_atomically}, x_is_four},
    {{add_by_function, add_atomically}, x_is_four},
    {{take, take}, x_is_one},
    {{take, take}, x_is_two},
    {{write_twice, look_at_x}, x_is_never_two},
    {{write_twice, look_at_x}, x_is_never_one},
    {{overwrite, read_back}, read_back_one},
    {{overwrite, read_back_without_section}, read_back_one},
    {{both, tell, hear}, y_follows_x},
    {{both_without_section, tell, hear}, y_follows_x},
    {{both, wait_for_x}, y_was_seen},
    {{both_without_section, wait_for_x}, y_was_seen},
    {{end_only}, nothing},
    {{lock_inside}, nothing},
    {{buffer_x, buffer_y}, one_saw_the_other},
    {{buffer_x, buffer_y, look_in_section}, one_saw_the_other},
    {{buffer_x, buffer_y, look_in_section}, nothing},
};

int main(int argc, char **argv) {
    int chosen = atoi(argv[1]), count = 0;
    pthread_t ids[3];
    for (; count < 3 && cases[chosen].threads[count]; count++)
        pthread_create(&ids[count], 0, cases[chosen].threads[count], 0);
    for (int at = 0; at < count; at++)
        pthread_join(ids[at], 0);
    cases[chosen].check();
}
