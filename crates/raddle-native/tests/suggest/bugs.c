// Known weak-memory bugs, one for each value of BUG.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define LOAD(x, o) atomic_load_explicit(&(x), o)
#define STORE(x, v, o) atomic_store_explicit(&(x), v, o)

static atomic_int x, y, z, a, b, in, lock;
static int data;
static int *_Atomic pointer;
static int r0, r1, r2, r3;

// Message passing: the data is plain or atomic.
#if BUG == 1
static void p(void) { STORE(x, 1, RLX); STORE(y, 1, RLX); }
static void q(void) { if (LOAD(y, RLX)) assert(LOAD(x, RLX)); }
#elif BUG == 2
static void p(void) { data = 1; STORE(y, 1, RLX); }
static void q(void) { if (LOAD(y, RLX)) assert(data == 1); }
#elif BUG == 3
static void p(void) { data = 1; STORE(y, 1, REL); }
static void q(void) { if (LOAD(y, RLX)) assert(data == 1); }
#elif BUG == 4
static void p(void) { data = 1; STORE(y, 1, RLX); }
static void q(void) { if (LOAD(y, ACQ)) assert(data == 1); }
// Store buffering.
#elif BUG == 5 || BUG == 19
static void p(void) { STORE(x, 1, RLX); r0 = LOAD(y, RLX); }
static void q(void) { STORE(y, 1, RLX); r1 = LOAD(x, RLX); }
#define CHECK assert(r0 || r1)
#elif BUG == 6
static void p(void) { STORE(x, 1, REL); r0 = LOAD(y, ACQ); }
static void q(void) { STORE(y, 1, REL); r1 = LOAD(x, ACQ); }
#define CHECK assert(r0 || r1)
// Peterson's lock without full fences.
#elif BUG == 7 || BUG == 8
static void enter(atomic_int *mine, atomic_int *other, int me) {
    STORE(*mine, 1, REL);
    STORE(z, 1 - me, REL);
    if (LOAD(*other, ACQ) && LOAD(z, ACQ) != me) return;
    assert(atomic_fetch_add(&in, 1) == 0);
    atomic_fetch_sub(&in, 1);
    STORE(*mine, 0, REL);
}
static void p(void) { enter(&x, &y, 0); }
static void q(void) { enter(&y, &x, 1); }
// Two readers disagree about the order of two writes.
#elif BUG == 9
static void p(void) { STORE(x, 1, REL); }
static void q(void) { STORE(y, 1, REL); }
static void r(void) { r0 = LOAD(x, ACQ); r1 = LOAD(y, ACQ); }
static void s(void) { r2 = LOAD(y, ACQ); r3 = LOAD(x, ACQ); }
#define CHECK assert(!(r0 && !r1 && r2 && !r3))
// 2+2W.
#elif BUG == 10
static void p(void) { STORE(x, 1, RLX); STORE(y, 2, RLX); }
static void q(void) { STORE(y, 1, RLX); STORE(x, 2, RLX); }
#define CHECK assert(!(x == 1 && y == 1))
// A pointer is published.
#elif BUG == 11
static void p(void) { int *n = malloc(4); *n = 7; STORE(pointer, n, RLX); }
static void q(void) { int *n = LOAD(pointer, ACQ); if (n) assert(*n == 7); }
// A spin lock that does not release, or does not acquire.
#elif BUG == 12 || BUG == 13
#define LOCK_ORDER (BUG == 13 ? RLX : ACQ)
#define UNLOCK_ORDER (BUG == 12 ? RLX : REL)
static void p(void) {
    while (atomic_exchange_explicit(&lock, 1, LOCK_ORDER)) {}
    data++;
    STORE(lock, 0, UNLOCK_ORDER);
}
#define q p
// Double-checked locking.
#elif BUG == 14
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void p(void) {
    if (!LOAD(x, RLX)) {
        pthread_mutex_lock(&mutex);
        if (!LOAD(x, RLX)) { data = 42; STORE(x, 1, RLX); }
        pthread_mutex_unlock(&mutex);
    }
    assert(data == 42);
}
#define q p
// A sequence lock.
#elif BUG == 15
static void p(void) { STORE(x, 1, RLX); STORE(a, 1, RLX); STORE(b, 1, RLX); STORE(x, 2, REL); }
static void q(void) {
    int before = LOAD(x, ACQ);
    if (before % 2) return;
    int one = LOAD(a, RLX), two = LOAD(b, RLX);
    if (LOAD(x, RLX) == before) assert(one == two);
}
// A ring of one slot.
#elif BUG == 16
static void p(void) { data = 5; STORE(x, 1, RLX); if (LOAD(y, RLX) == 1) { data = 6; STORE(x, 2, RLX); } }
static void q(void) { if (LOAD(x, ACQ) == 1) { assert(data == 5); STORE(y, 1, RLX); } }
// The last owner frees.
#elif BUG == 17
static void p(void) {
    (*pointer)++;
    if (atomic_fetch_sub_explicit(&x, 1, RLX) == 1) free(pointer);
}
static void q(void) { if (atomic_fetch_sub_explicit(&x, 1, RLX) == 1) free(pointer); }
#define START (pointer = calloc(1, 4), x = 2)
// Causality through a third thread.
#elif BUG == 18
static void p(void) { data = 1; STORE(x, 1, REL); }
static void q(void) { if (LOAD(x, RLX)) STORE(y, 1, REL); }
static void r(void) { if (LOAD(y, ACQ)) assert(data == 1); }
// Message passing under PSO.
#elif BUG == 20
static void p(void) { STORE(x, 1, RLX); STORE(y, 1, RLX); }
static void q(void) { if (LOAD(y, RLX)) assert(LOAD(x, RLX)); }
// A hazard pointer.
#elif BUG == 21
static void p(void) { STORE(a, 1, REL); if (LOAD(x, ACQ) == 0) { r0 = LOAD(z, RLX); assert(!r0); } }
static void q(void) { STORE(x, 1, REL); if (!LOAD(a, ACQ)) STORE(z, 1, RLX); }
#endif

#ifndef CHECK
#define CHECK (void)0
#endif
#ifndef START
#define START (void)0
#endif

static void *run(void *f) { ((void (*)(void))f)(); return 0; }

int main(void) {
    pthread_t t[4];
    START;
    pthread_create(&t[0], 0, run, (void *)p);
    pthread_create(&t[1], 0, run, (void *)q);
#if BUG == 9 || BUG == 18
    pthread_create(&t[2], 0, run, (void *)r);
#endif
#if BUG == 9
    pthread_create(&t[3], 0, run, (void *)s);
    pthread_join(t[3], 0);
#endif
#if BUG == 9 || BUG == 18
    pthread_join(t[2], 0);
#endif
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    CHECK;
    return 0;
}
