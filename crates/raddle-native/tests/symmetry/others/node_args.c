// arguments form a list: each points to the next
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <assert.h>
struct n { struct n *next; atomic_int v; };
static atomic_int x;
static void *run(void *p){ struct n *n=p; int o=atomic_load(&x); atomic_store(&x,o+1); if(n->next) atomic_fetch_add(&n->next->v,1); return 0; }
int main(){ pthread_t t[3]; struct n *a[3]; for(int i=0;i<3;i++){ a[i]=calloc(1,sizeof *a[i]); } for(int i=0;i<3;i++) a[i]->next=a[(i+1)%3]; for(int i=0;i<3;i++) pthread_create(&t[i],0,run,a[i]); for(int i=0;i<3;i++) pthread_join(t[i],0); assert(a[0]->v==1); }
