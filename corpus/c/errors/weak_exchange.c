// A weak compare-exchange may fail although the values are equal. A strong one may not.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef STRONG
#define EXCHANGE atomic_compare_exchange_strong
#else
#define EXCHANGE atomic_compare_exchange_weak
#endif

static atomic_int x;
static atomic_int *_Atomic pointer;
static _Atomic unsigned char small;

static void *run(void *unused) {
    int expected = 0;
    if (!EXCHANGE(&x, &expected, 1))
        assert(expected != 0);
    atomic_int *none = 0;
    assert(EXCHANGE(&pointer, &none, &x) || none != 0);
    unsigned char zero = 0;
    while (!EXCHANGE(&small, &zero, 5))
        ;
    assert(small == 5);
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, 0);
    pthread_join(id, 0);
}
