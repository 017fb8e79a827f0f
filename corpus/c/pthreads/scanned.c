// sscanf writes through more pointers than registers hold.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

static atomic_int x;
static int numbers[7];

static void *writer(void *arg) {
    for (int i = 1; i < 4; i++)
        x = i;
    return arg;
}

static void *reader(void *arg) {
    int *n = numbers;
    atomic_load(&x);
    sscanf("1 2 3 4 5 6 7", "%d %d %d %d %d %d %d", n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6);
    for (int i = 0; i < 7; i += 3) {
        atomic_load(&x);
        assert(numbers[i] == i + 1);
    }
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
