// A variable on the stack of main, which another thread reads under a lock; it has a variable of its own whose address is
// taken, so that gcc's accesses of its stack have hooks, also between the hook of a load and the load.
// -DCOPY: it is read by memcpy. -DLOCAL: the variable is thread-local.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int local;

static void use(int *value) { (void)value; }

static void *reader(void *arg) {
    int *pointer = arg, own = 0, seen;
    use(&own);
    pthread_mutex_lock(&mutex);
#ifdef COPY
    memcpy(&seen, pointer, sizeof seen);
#else
    seen = *pointer;
#endif
    pthread_mutex_unlock(&mutex);
    assert(seen == 3);
    return NULL;
}

int main(void) {
    pthread_t thread;
#ifdef LOCAL
    int *value = &local;
#else
    int stack, *value = &stack;
#endif
    *value = 2;
    pthread_create(&thread, NULL, reader, value);
    pthread_mutex_lock(&mutex);
    *value = 3;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}
