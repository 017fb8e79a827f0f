// the creator writes to the argument after the start
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <assert.h>
struct a { atomic_int go; };
static atomic_int x;
static void *run(void *p){ struct a *a=p; if(atomic_load(&a->go)) { int o=atomic_load(&x); atomic_store(&x,o+1);} return 0; }
int main(){ pthread_t t[2]; struct a *a[2]; for(int i=0;i<2;i++){ a[i]=malloc(sizeof *a[i]); atomic_init(&a[i]->go,0); pthread_create(&t[i],0,run,a[i]); atomic_store(&a[i]->go,1);} for(int i=0;i<2;i++) pthread_join(t[i],0); assert(x!=1 || x>0); }
