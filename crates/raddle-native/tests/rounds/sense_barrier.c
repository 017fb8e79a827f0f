// A sense-reversing barrier.
#include <pthread.h>
#include <stdatomic.h>

enum { N = 6 };

static atomic_int count = N, sense;

static void *run(void *unused) {
    if (atomic_fetch_sub(&count, 1) == 1) {
        atomic_store(&count, N);
        atomic_store(&sense, 1);
    } else {
        while (!atomic_load(&sense))
            ;
    }
    return 0;
}

int main(void) {
    pthread_t ids[N];
    for (int i = 0; i < N; i++)
        pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < N; i++)
        pthread_join(ids[i], 0);
}
