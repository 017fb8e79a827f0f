// One thread, any of them, leads after a barrier.
#include <pthread.h>
#include <assert.h>
#include <stdatomic.h>
static pthread_barrier_t b; static atomic_int leader, x;
static void *run(void *a){ int o=atomic_load(&x); atomic_store(&x,o+1); if(pthread_barrier_wait(&b)==PTHREAD_BARRIER_SERIAL_THREAD) atomic_fetch_add(&leader,1); return 0; }
int main(){ pthread_t t[3]; pthread_barrier_init(&b,0,3); for(int i=0;i<3;i++) pthread_create(&t[i],0,run,0); for(int i=0;i<3;i++) pthread_join(t[i],0); assert(leader==1); assert(x<=3 && x>=1); }
