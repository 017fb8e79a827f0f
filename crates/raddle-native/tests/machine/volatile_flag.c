// A plain volatile flag.
#include <pthread.h>

static volatile int f;
static int d;
void*t(void*a) {
    d = 1;
    f = 1;
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    while(!f);
    int v = d;
    pthread_join(a, 0);
    return v != 1;
}
