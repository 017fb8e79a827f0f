// Sections that nothing comes in between. BROKEN has one that ends too early.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int x;

static void *run(void *unused) {
    __VERIFIER_atomic_begin();
    int seen = x;
#ifdef BROKEN
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
#endif
    x = seen + 1;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t ids[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    assert(x == 2);
}
