// A thread chooses.

extern void abort(void);
extern void reach_error(void);
void __VERIFIER_assert(int condition) {
    if (!condition) {
        reach_error();
        abort();
    }
}

typedef unsigned long pthread_t;
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
extern _Bool __VERIFIER_nondet_bool(void);

static int x, y;
static void *first(void *unused) {
    if (__VERIFIER_nondet_bool())
        x = 1;
    return 0;
}
static void *second(void *unused) {
    if (x)
        y = 1;
    return 0;
}
int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, first, 0);
    pthread_create(&ids[1], 0, second, 0);
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
    __VERIFIER_assert(!y || x);
    return 0;
}
