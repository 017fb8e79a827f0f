// A block is freed after the thread that uses it has ended.
#include <pthread.h>
#include <stdlib.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

static int *block;
static void *use(void *unused) {
    *block = 1;
    return 0;
}
int main(void) {
    pthread_t id;
    block = malloc(sizeof *block);
    if (!block)
        abort();
    pthread_create(&id, 0, use, 0);
    pthread_join(id, 0);
    free(block);
    return 0;
}
