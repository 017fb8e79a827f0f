// Two threads free the same block.
#include <pthread.h>
#include <stdlib.h>

static void *run(void *block) {
    free(block);
    return 0;
}

int main(void) {
    pthread_t id;
    void *block = malloc(8);
    pthread_create(&id, 0, run, block);
    free(block);
    pthread_join(id, 0);
}
