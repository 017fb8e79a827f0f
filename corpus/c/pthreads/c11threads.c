// The threads of C11.
#include <assert.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t condition;
static once_flag once = ONCE_FLAG_INIT;
static tss_t slot;
static int made, ready, counter;

static void make(void) { made++; }

static int run(void *argument) {
    call_once(&once, make);
    tss_set(slot, argument);
    mtx_lock(&mutex);
    while (!ready)
        cnd_wait(&condition, &mutex);
    counter += (int)(long)tss_get(slot);
    mtx_unlock(&mutex);
    return 5 + (int)(long)argument;
}

int main(void) {
    thrd_t ids[2];
    int result;
    assert(mtx_init(&mutex, mtx_plain) == thrd_success);
    cnd_init(&condition);
    tss_create(&slot, 0);
    for (long i = 0; i < 2; i++)
        assert(thrd_create(&ids[i], run, (void *)i) == thrd_success);
    mtx_lock(&mutex);
    ready = 1;
    cnd_broadcast(&condition);
    mtx_unlock(&mutex);
    for (int i = 0; i < 2; i++) {
        thrd_join(ids[i], &result);
        assert(result == 5 + i);
    }
    assert(made == 1 && counter == 1);
    mtx_destroy(&mutex);
    cnd_destroy(&condition);
}
