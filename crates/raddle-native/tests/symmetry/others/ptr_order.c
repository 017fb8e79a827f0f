// deadlock avoidance: lock in the order of addresses of own objects
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <assert.h>
typedef struct { pthread_mutex_t m; int v; } acc;
static _Atomic(acc*) shown[2]; static atomic_int n, first_low;
static void *run(void *arg) { acc *a = arg; int i = atomic_fetch_add(&n, 1); if (i < 2) atomic_store(&shown[i], a); acc *x = atomic_load(&shown[0]), *y = atomic_load(&shown[1]);
  if (x && y) { if (x < y) atomic_store(&first_low, 1); else assert(!atomic_load(&first_low)); } return 0; }
int main() { pthread_t t[3]; acc *a[3]; for (int i=0;i<3;i++) { a[i] = malloc(sizeof(acc)); pthread_mutex_init(&a[i]->m, 0); a[i]->v = 0; pthread_create(&t[i],0,run,a[i]); }
 for (int i=0;i<3;i++) pthread_join(t[i],0); assert(first_low || !shown[1] ); }
