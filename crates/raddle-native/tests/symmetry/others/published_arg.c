// argument is published relaxed; others read fields that the creator wrote
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <assert.h>
struct a { int v; };
static _Atomic(struct a*) p;
static void *run(void *arg) { struct a *o = atomic_exchange_explicit(&p, arg, memory_order_relaxed); if (o) assert(o->v == 7); return 0; }
int main() { pthread_t t[2]; struct a *x[2]; for (int i=0;i<2;i++) { x[i] = malloc(sizeof **x); x[i]->v = 7; pthread_create(&t[i],0,run,x[i]); } for (int i=0;i<2;i++) pthread_join(t[i],0); }
