// A stack of allocated nodes under a lock; who pops does not look whether there is anything.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct node *top;

static void *pusher(void *unused) {
    for (int i = 0; i < 2; i++) {
        struct node *node = malloc(sizeof *node);
        pthread_mutex_lock(&mutex);
        node->value = i;
        node->next = top;
        top = node;
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}

static void *popper(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex);
#ifdef SAFE
        if (top)
#endif
        {
            assert(top != 0);
            top = top->next;
        }
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, pusher, 0);
    pthread_create(&ids[1], 0, popper, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
}
