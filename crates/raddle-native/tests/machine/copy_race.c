// memcpy and memset race.
#include <pthread.h>
#include <string.h>

static char b[64], c[64];
void*t(void*a) {
    memcpy(b, c, 64);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    memset(b, 1, 64);
    pthread_join(a, 0);
    return 0;
}
