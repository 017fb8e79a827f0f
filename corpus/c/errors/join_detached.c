// A thread is joined that was detached: when it was made, by its maker, or by itself.
#include <pthread.h>

static void *run(void *unused) {
#ifdef ITSELF
    pthread_detach(pthread_self());
#endif
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
#ifdef MADE
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
#endif
    pthread_create(&id, &attributes, run, 0);
#if !defined ITSELF && !defined MADE
    pthread_detach(id);
#endif
    pthread_join(id, 0);
}
