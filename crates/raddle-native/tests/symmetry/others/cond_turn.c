// threads take a number under a lock, then go in that order
#include <pthread.h>
#include <assert.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int next, turn, log_[3], k;
static void *run(void *a) { pthread_mutex_lock(&m); int me = next++; while (turn != me) pthread_cond_wait(&c, &m); log_[k++] = me; turn++; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t t[3]; for (int i=0;i<3;i++) pthread_create(&t[i],0,run,0); for (int i=0;i<3;i++) pthread_join(t[i],0); for (int i=0;i<3;i++) assert(log_[i]==i); }
