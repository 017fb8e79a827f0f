// An atomic variable, or member, or pointer that is an operand of [] is loaded atomically.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int index;
static struct { char other; atomic_short at; } member;
static int values[4], *_Atomic pointer = values;
static volatile int plain;

static void *use(void *unused) {
    values[index] = 1;
#ifdef MORE
    (void)member.at[values];
    (void)pointer[1];
#endif
    return 0;
}

static void *set(void *unused) {
    index = 1;
#ifdef MORE
    member.at = 2;
    pointer = values + 1;
#endif
#ifdef BROKEN
    plain = 1;
#endif
    return 0;
}

int main(void) {
    pthread_t ids[2];
    pthread_create(&ids[0], 0, use, 0);
    pthread_create(&ids[1], 0, set, 0);
#ifdef BROKEN
    (void)values[plain];
#endif
    pthread_join(ids[0], 0);
    pthread_join(ids[1], 0);
}
