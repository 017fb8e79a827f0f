// Two threads add to each other's variable, N times; the greatest sum there is is a Fibonacci number. SAFE asks
// for more than that.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 6
#endif
#if N == 6
#define MOST 377
#elif N == 5
#define MOST 144
#elif N == 4
#define MOST 55
#else
#define MOST 21
#endif

static int i = 1, j = 1;

static void *first(void *unused) {
    for (int k = 0; k < N; k++)
        i += j;
    return 0;
}

static void *second(void *unused) {
    for (int k = 0; k < N; k++)
        j += i;
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, first, 0);
    pthread_create(&ids[1], 0, second, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
#ifdef SAFE
    assert(i <= MOST && j <= MOST);
#else
    assert(i < MOST && j < MOST);
#endif
}
