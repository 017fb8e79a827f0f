// A store of 8000 bytes beyond a global.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

char before[16]="b";
char buf[16];
char after[16]="a";
static _Atomic int x;
void *t(void*a) {
    atomic_store(&x, 1);
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    memset(buf, 1, 16+8000);
    pthread_join(a, 0);
    return 0;
}
