// Variables of which every thread has its own.
#include <assert.h>
#include <pthread.h>

static __thread int mine = 7;
static _Thread_local int other;

static void *run(void *argument) {
    assert(mine == 7 && other == 0);
    mine = (int)(long)argument;
    other = mine + 1;
    assert(mine == (int)(long)argument && other == mine + 1);
    return 0;
}

int main(void) {
    pthread_t ids[2];
    mine = 100;
    for (long i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    assert(mine == 100 && other == 0);
}
