// Readers and writers.
#include <pthread.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

extern void __VERIFIER_assume(int);

static int writing, readers, value;

void __VERIFIER_atomic_take_write_lock(void) {
    __VERIFIER_assume(writing == 0 && readers == 0);
    writing = 1;
}

void __VERIFIER_atomic_take_read_lock(void) {
    __VERIFIER_assume(writing == 0);
    readers = readers + 1;
}

void __VERIFIER_atomic_release_read_lock(void) {
    readers = readers - 1;
}
static void *write(void *unused) {
    __VERIFIER_atomic_take_write_lock();
    value = 3;
    writing = 0;
    return 0;
}
static void *read(void *unused) {
    __VERIFIER_atomic_take_read_lock();
    int seen = value;
    __VERIFIER_assert(seen == value);
    __VERIFIER_atomic_release_read_lock();
    return 0;
}
int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, write, 0);
    pthread_create(&ids[1], 0, read, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    return 0;
}
