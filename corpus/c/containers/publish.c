// A structure is filled, published by its pointer, and read.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct message {
    char text[8];
    int length;
};

static struct message *_Atomic inbox;

static void *sender(void *unused) {
    struct message *message = malloc(sizeof *message);
    strcpy(message->text, "hello");
    message->length = (int)strlen(message->text);
    atomic_store_explicit(&inbox, message, memory_order_release);
    return 0;
}

static void *receiver(void *unused) {
    struct message *message = atomic_load_explicit(&inbox, memory_order_acquire);
    if (message) {
        struct message copy = *message;
        assert(copy.length == 5 && memcmp(copy.text, "hello", 6) == 0);
    }
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, sender, 0);
    pthread_create(&ids[1], 0, receiver, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    free(atomic_load(&inbox));
}
