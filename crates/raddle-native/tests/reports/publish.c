// A record is published by a flag. Under PSO the flag may reach memory first.
#include <assert.h>
#include <pthread.h>

struct record { int key; int value; };
static struct record record;
static volatile int is_ready;

static void *publish(void *unused) {
    ((volatile struct record *)&record)->value = 5;
    is_ready = 1;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, publish, 0);
    if (is_ready)
        assert(((volatile struct record *)&record)->value == 5);
    pthread_join(thread, 0);
}
