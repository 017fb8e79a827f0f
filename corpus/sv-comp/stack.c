// Two threads push.
#include <pthread.h>

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int top, items[2];
static void *push(void *unused) {
    __VERIFIER_atomic_begin();
    int at = top;
    items[at] = 1;
    top = at + 1;
    __VERIFIER_atomic_end();
    return 0;
}
int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, push, 0);
    pthread_create(&ids[1], 0, push, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    __VERIFIER_assert(top == 2 && items[0] && items[1]);
    return 0;
}
