// Two strings are formatted that another thread writes meanwhile: the text is made of what was read of each.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static char first[1] = "0", second[1] = "0";

static void *writer(void *arg) {
    first[0] = '5';
    second[0] = '7';
    return arg;
}

static void *reader(void *arg) {
    char text[8];
    snprintf(text, sizeof text, "%.1s%.1s", first, second);
#ifdef WRONG
    assert(text[0] != '0' || text[1] != '7');
#endif
    // This also leaves something else in memory, for when the thread is brought back.
    assert(first[0] == '5' || text[0] == '0');
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
