// two equal threads, each starts two equal ones
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
static atomic_int x;
static void *leaf(void *a){ int o=atomic_load(&x); atomic_store(&x,o+1); return 0; }
static void *run(void *a){ pthread_t t[2]; for(int i=0;i<2;i++) pthread_create(&t[i],0,leaf,0); for(int i=0;i<2;i++) pthread_join(t[i],0); return 0; }
int main(){ pthread_t t[2]; for(int i=0;i<2;i++) pthread_create(&t[i],0,run,0); for(int i=0;i<2;i++) pthread_join(t[i],0); assert(x>=1); assert(x!=2); }
