#pragma once
// Locks, condition variables and barriers, on top of atomic updates, updates that block, and failures.
#include <errno.h>
#include <stddef.h>
typedef unsigned long pthread_t;
typedef int pthread_attr_t, pthread_mutexattr_t, pthread_condattr_t, pthread_rwlockattr_t, pthread_barrierattr_t;
typedef int pthread_once_t, pthread_spinlock_t;
typedef struct {
    unsigned __owner, __kind, __count, __destroyed;
} pthread_mutex_t;
typedef struct {
    unsigned __waiting;
} pthread_cond_t;
typedef struct {
    unsigned __state;
} pthread_rwlock_t;
typedef struct {
    unsigned __threads, __arrived, __round;
} pthread_barrier_t;
enum { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_DEFAULT = 0 };
enum { PTHREAD_PROCESS_PRIVATE, PTHREAD_CREATE_JOINABLE = 0, PTHREAD_CREATE_DETACHED };
#define PTHREAD_MUTEX_INITIALIZER {0}
#define PTHREAD_COND_INITIALIZER {0}
#define PTHREAD_RWLOCK_INITIALIZER {0}
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)

// Blocks until (*p & mask) == value, and then atomically adds. Returns the old value.
unsigned __raddle_when(unsigned *, unsigned mask, unsigned value, unsigned add);
// Blocks until the number is positive, and then atomically decrements it.
void __raddle_take(unsigned *);
unsigned __raddle_self(void);
unsigned __raddle_choice(void);
void __raddle_fail(const char *kind, const char *message);
void __VERIFIER_assume(int);

int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
int pthread_detach(pthread_t);
void pthread_exit(void *);
static inline pthread_t pthread_self(void) { return __raddle_self() + 1; }
static inline int pthread_equal(pthread_t a, pthread_t b) { return a == b; }
static inline int pthread_attr_init(pthread_attr_t *a) {
    *a = PTHREAD_CREATE_JOINABLE;
    return 0;
}
static inline int pthread_attr_destroy(pthread_attr_t *a) { return 0; }
static inline int pthread_attr_setdetachstate(pthread_attr_t *a, int state) {
    *a = state;
    return 0;
}

static inline int pthread_mutexattr_init(pthread_mutexattr_t *a) {
    *a = 0;
    return 0;
}
static inline int pthread_mutexattr_settype(pthread_mutexattr_t *a, int kind) {
    *a = kind;
    return 0;
}
static inline int pthread_mutexattr_destroy(pthread_mutexattr_t *a) { return 0; }
static inline int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a) {
    m->__owner = 0;
    m->__kind = a ? *a : 0;
    m->__count = 0;
    m->__destroyed = 0;
    return 0;
}
static inline int pthread_mutex_destroy(pthread_mutex_t *m) {
    m->__destroyed = 1;
    return 0;
}
static inline void __raddle_usable(pthread_mutex_t *m) {
    if (m->__destroyed)
        __raddle_fail("misuse", "a mutex is used that is not initialised or was destroyed");
}
static inline int pthread_mutex_lock(pthread_mutex_t *m) {
    unsigned self = __raddle_self() + 1;
    __raddle_usable(m);
    if (m->__kind != PTHREAD_MUTEX_NORMAL && m->__owner == self) {
        if (m->__kind == PTHREAD_MUTEX_ERRORCHECK)
            return EDEADLK;
        m->__count++;
        return 0;
    }
    __raddle_when(&m->__owner, ~0u, 0, self);
    return 0;
}
static inline int pthread_mutex_trylock(pthread_mutex_t *m) {
    unsigned self = __raddle_self() + 1, free = 0;
    __raddle_usable(m);
    if (m->__kind == PTHREAD_MUTEX_RECURSIVE && m->__owner == self) {
        m->__count++;
        return 0;
    }
    return __atomic_compare_exchange_n(&m->__owner, &free, self, 0, 5, 5) ? 0 : EBUSY;
}
static inline int pthread_mutex_unlock(pthread_mutex_t *m) {
    unsigned self = __raddle_self() + 1;
    if (m->__kind != PTHREAD_MUTEX_NORMAL) {
        if (m->__owner != self)
            return EPERM;
        if (m->__count) {
            m->__count--;
            return 0;
        }
    }
    if (__atomic_exchange_n(&m->__owner, 0, 5) != self)
        __raddle_fail("misuse", "a thread unlocks a mutex that it does not hold");
    return 0;
}

static inline int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a) {
    c->__waiting = 0;
    return 0;
}
static inline int pthread_cond_destroy(pthread_cond_t *c) { return 0; }
static inline int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    unsigned bit = 1u << __raddle_self();
    __atomic_fetch_or(&c->__waiting, bit, 5);
    pthread_mutex_unlock(m);
    __raddle_when(&c->__waiting, bit, 0, 0);
    pthread_mutex_lock(m);
    return 0;
}
static inline int pthread_cond_signal(pthread_cond_t *c) {
    unsigned one = __raddle_choice() & 31;
    unsigned waiting = __atomic_fetch_and(&c->__waiting, ~(1u << one), 5);
    __VERIFIER_assume(waiting == 0 || (waiting >> one & 1));
    return 0;
}
static inline int pthread_cond_broadcast(pthread_cond_t *c) {
    __atomic_exchange_n(&c->__waiting, 0, 5);
    return 0;
}

#define __RADDLE_WRITER 0x80000000u
static inline int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *a) {
    l->__state = 0;
    return 0;
}
static inline int pthread_rwlock_destroy(pthread_rwlock_t *l) { return 0; }
static inline int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
    __raddle_when(&l->__state, __RADDLE_WRITER, 0, 1);
    return 0;
}
static inline int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
    __raddle_when(&l->__state, ~0u, 0, __RADDLE_WRITER);
    return 0;
}
static inline int pthread_rwlock_trywrlock(pthread_rwlock_t *l) {
    unsigned free = 0;
    return __atomic_compare_exchange_n(&l->__state, &free, __RADDLE_WRITER, 0, 5, 5) ? 0 : EBUSY;
}
static inline int pthread_rwlock_tryrdlock(pthread_rwlock_t *l) {
    unsigned state = __atomic_load_n(&l->__state, 5);
    while (!(state & __RADDLE_WRITER))
        if (__atomic_compare_exchange_n(&l->__state, &state, state + 1, 0, 5, 5))
            return 0;
    return EBUSY;
}
static inline int pthread_rwlock_unlock(pthread_rwlock_t *l) {
    // If the writer's bit is set, there are no readers.
    if (l->__state & __RADDLE_WRITER)
        __atomic_exchange_n(&l->__state, 0, 5);
    else
        __atomic_fetch_sub(&l->__state, 1, 5);
    return 0;
}

static inline int pthread_spin_init(pthread_spinlock_t *l, int shared) {
    *l = 0;
    return 0;
}
static inline int pthread_spin_destroy(pthread_spinlock_t *l) { return 0; }
static inline int pthread_spin_lock(pthread_spinlock_t *l) {
    __raddle_when((unsigned *)l, ~0u, 0, 1);
    return 0;
}
static inline int pthread_spin_trylock(pthread_spinlock_t *l) { return __atomic_exchange_n(l, 1, 5) ? EBUSY : 0; }
static inline int pthread_spin_unlock(pthread_spinlock_t *l) {
    __atomic_exchange_n(l, 0, 5);
    return 0;
}

static inline int pthread_once(pthread_once_t *once, void (*function)(void)) {
    int fresh = 0;
    if (__atomic_compare_exchange_n(once, &fresh, 1, 0, 5, 5)) {
        function();
        __atomic_exchange_n(once, 2, 5);
    } else {
        __raddle_when((unsigned *)once, ~0u, 2, 0);
    }
    return 0;
}

static inline int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned threads) {
    b->__threads = threads;
    b->__arrived = b->__round = 0;
    return 0;
}
static inline int pthread_barrier_destroy(pthread_barrier_t *b) { return 0; }
static inline int pthread_barrier_wait(pthread_barrier_t *b) {
    unsigned round = __atomic_load_n(&b->__round, 5);
    if (__atomic_fetch_add(&b->__arrived, 1, 5) + 1 == b->__threads) {
        __atomic_exchange_n(&b->__arrived, 0, 5);
        __atomic_fetch_xor(&b->__round, 1, 5);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    __raddle_when(&b->__round, ~0u, round ^ 1, 0);
    return 0;
}
