// What the litmus tests have in common. Accesses are relaxed, with REL they release and acquire, with SC
// they are sequentially consistent. Each has an assertion that fails where the test's weak outcome shows
// up; with NDEBUG all outcomes are counted.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#if defined SC
#define LOADS memory_order_seq_cst
#define STORES memory_order_seq_cst
#elif defined REL
#define LOADS memory_order_acquire
#define STORES memory_order_release
#else
#define LOADS memory_order_relaxed
#define STORES memory_order_relaxed
#endif

#define LOAD(x) atomic_load_explicit(&(x), LOADS)
#define STORE(x, value) atomic_store_explicit(&(x), (value), STORES)

// A thread that does this and nothing else.
#define THREAD(name, body)            \
    static void *name(void *unused) { \
        body;                         \
        return 0;                     \
    }

typedef void *(*Body)(void *);

static inline void run_all(int n, const Body *bodies) {
    pthread_t ids[n];
    for (int i = 0; i < n; i++)
        pthread_create(&ids[i], 0, bodies[i], 0);
    for (int i = 0; i < n; i++)
        pthread_join(ids[i], 0);
}

// Starts these threads and waits for them.
#define RUN(...) run_all(sizeof((Body[]){__VA_ARGS__}) / sizeof(Body), (Body[]){__VA_ARGS__})
