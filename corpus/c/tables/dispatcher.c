// Requests are sent to servers that another thread picks.
#include "tables.h"

#ifndef N
#define N 2
#endif

static pthread_mutex_t picking = PTHREAD_MUTEX_INITIALIZER, servers[N];
static Int picked, requests[N], answers[N];

static void *serve(void *argument) {
    int i = NUMBER(argument);
    LOCK(servers[i]);
    if (GET(requests[i]) > 0)
        SET(answers[i], GET(requests[i]));
    UNLOCK(servers[i]);
    return 0;
}

static void *pick(void *argument) {
    for (int i = 0; i < N; i++) {
        LOCK(picking);
        SET(picked, i);
        UNLOCK(picking);
    }
    return 0;
}

static void dispatch(void) {
    pthread_t picker;
    pthread_create(&picker, 0, pick, 0);
    LOCK(picking);
    int server = GET(picked);
    UNLOCK(picking);
    LOCK(servers[server]);
    ADD(requests[server], 1);
    UNLOCK(servers[server]);
    pthread_join(picker, 0);
}

int main(void) {
    pthread_t ids[N];
    locks(servers, N);
    for (intptr_t i = 0; i < N; i++)
        pthread_create(&ids[i], 0, serve, (void *)i);
    for (int i = 0; i < N; i++)
        dispatch();
    for (int i = 0; i < N; i++)
        pthread_join(ids[i], 0);
}
