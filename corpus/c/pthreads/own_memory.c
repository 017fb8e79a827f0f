// One thread counts up N times, one reads N times and keeps what it has read in memory of its own, of every kind. That
// must be what belongs to its history, however the thread is brought back to earlier points of it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifndef N
#define N 5
#endif

static atomic_int x;
static int own[N];
static _Thread_local int local[N];

struct padded {
    char byte;
    long word;
};

// A frame that leaves its bytes below the stack pointer.
static void leave(int value) {
    volatile unsigned char bytes[600];
    for (int i = 0; i < 600; i += 60)
        bytes[i] = value;
}

static int find(int value) {
    struct padded padded;
    padded.byte = value;
    return ((unsigned char *)&padded)[0];
}

static void *write(void *arg) {
    for (int i = 1; i <= N; i++)
        x = i;
    return arg;
}

static void *read(void *arg) {
    int stack[N] = {0};
    int *blocks[N] = {0};
    for (int i = 0; i < N; i++) {
        int value = x;
        assert(own[i] == 0 && local[i] == 0);
        stack[i] = own[i] = local[i] = value;
        leave(value);
        if (value % 2)
            blocks[i] = calloc(1, sizeof(int));
        if (blocks[i])
            *blocks[i] = value;
        assert(find(value) == value);
    }
    for (int i = 0; i < N; i++) {
        assert(own[i] == stack[i] && local[i] == stack[i]);
        assert(i == 0 || stack[i - 1] <= stack[i]);
        assert((stack[i] % 2 != 0) == (blocks[i] != NULL));
        assert(!blocks[i] || *blocks[i] == stack[i]);
        free(blocks[i]);
    }
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, write, NULL);
    pthread_create(&threads[1], NULL, read, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
