// A structure is copied while others write its members: every member has the value that its own load observed,
// whatever other threads have left in memory until the last of them is answered.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct pair {
    long first, second;
};

static struct pair pair;
static atomic_int flag;

static void *flags(void *arg) {
    flag = 1;
    flag = 2;
    return arg;
}

static void *reader(void *arg) {
    struct pair copy = pair;
    assert(copy.first == 0 || copy.second == 1);
    return arg;
}

static void *writer(void *arg) {
    pair.second = 1;
    atomic_load(&flag);
    pair.first = 1;
    return arg;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, flags, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
