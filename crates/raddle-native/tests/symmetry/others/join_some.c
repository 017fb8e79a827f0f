// detaches two, joins one and reads; the rest runs on
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
static atomic_int x; 
static void *run(void *a) { atomic_fetch_add(&x, 1); return 0; }
int main() { pthread_t t[3]; for (int i=0;i<3;i++) { pthread_create(&t[i],0,run,0); if (i) pthread_detach(t[i]); } pthread_join(t[0],0); int r = atomic_load(&x); assert(r != 2 || x >= 2); assert(r!=3); }
