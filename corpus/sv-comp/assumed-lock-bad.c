// A lock that waits by an assumption.
#include <pthread.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);

static int lock, inside;

static void acquire(void) {
    __VERIFIER_assume(lock == 0);
    lock = 1;
}
static void *run(void *unused) {
    acquire();
    int seen = inside;
    __VERIFIER_assert(seen == 0);
    inside = 1;
    inside = 0;
    lock = 0;
    return 0;
}
int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, run, 0);
    pthread_create(&ids[1], 0, run, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    return 0;
}
