// Store buffering over long buffers: each thread writes many variables, and then looks at all of the other's. That both
// see none needs as many waiting stores as there are variables, but only one for each variable.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef LENGTH
#define LENGTH 8
#endif

static atomic_int a[LENGTH], b[LENGTH];

static void *run(void *argument) {
    atomic_int *mine = argument ? a : b, *yours = argument ? b : a;
    int seen = 0;
    for (int i = 0; i < LENGTH; i++)
        atomic_store_explicit(&mine[i], 1, memory_order_relaxed);
    for (int i = 0; i < LENGTH; i++)
        seen |= atomic_load_explicit(&yours[i], memory_order_relaxed);
    return seen ? argument : &mine[0];
}

int main(void) {
    pthread_t ids[2];
    void *left, *right;
    pthread_create(&ids[0], 0, run, (void *)0);
    pthread_create(&ids[1], 0, run, &b[0]);
    pthread_join(ids[0], &left);
    pthread_join(ids[1], &right);
    assert(left != &b[0] || right != &a[0]);
}
