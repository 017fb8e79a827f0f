// A reader compares versions.
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

static int version, low, high;
static void *write(void *unused) {
    __VERIFIER_atomic_begin();
    version = version + 1;
    __VERIFIER_atomic_end();
    low = 1;
    high = 1;
    __VERIFIER_atomic_begin();
    version = version + 1;
    __VERIFIER_atomic_end();
    return 0;
}
static void *read(void *unused) {
    int before = version, one = low, other = high;
    int after = version;
    if (before == after && before % 2 == 0)
        __VERIFIER_assert(one == other);
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
