// What the mutual exclusion algorithms have in common. Stores release and loads acquire, which is not
// enough wherever there are store buffers; with SC they are sequentially consistent, which is.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#ifdef SC
#define LOAD(x) atomic_load(&(x))
#define STORE(x, value) atomic_store(&(x), (value))
#else
#define LOAD(x) atomic_load_explicit(&(x), memory_order_acquire)
#define STORE(x, value) atomic_store_explicit(&(x), (value), memory_order_release)
#endif

// The critical section: if both threads are in it, one may see what the other one wrote.
static int inside;

#define CRITICAL_SECTION(i) (inside = (i), assert(inside == (i)))

// What a thread does; its number is 0 or 1.
static void *run(void *argument);

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, run, (void *)0);
    pthread_create(&second, 0, run, (void *)1);
    pthread_join(first, 0);
    pthread_join(second, 0);
}
