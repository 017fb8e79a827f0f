// the first two point to the third, the third to the first: pairs with the first look alike
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <assert.h>
struct n { struct n *next; int v; };
static atomic_int x;
static void *run(void *p){ struct n *n=p; int k=atomic_fetch_add(&x,1); if(k==0) assert(n->next->next!=n); return 0; }
int main(){ pthread_t t[3]; struct n *a[3]; for(int i=0;i<3;i++){ a[i]=malloc(sizeof *a[i]); } a[0]->next=a[2]; a[1]->next=a[2]; a[2]->next=a[0]; for(int i=0;i<3;i++) pthread_create(&t[i],0,run,a[i]); for(int i=0;i<3;i++) pthread_join(t[i],0); }
