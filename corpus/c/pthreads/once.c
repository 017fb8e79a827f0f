// Something is made once, by who comes first.
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int made;

static void make(void) { made++; }

static void *run(void *unused) {
    pthread_once(&once, make);
    assert(made == 1);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
}
