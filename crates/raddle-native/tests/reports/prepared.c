// Much is prepared before the threads start; one word of it races.
#include <pthread.h>

static int table[12], total;

static void *reader(void *unused) {
    for (int i = 0; i < 12; i++)
        total += table[i];
    return 0;
}

int main(void) {
    for (int i = 0; i < 12; i++)
        table[i] = i * i;
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    table[11] = 0;
    pthread_join(thread, 0);
}
