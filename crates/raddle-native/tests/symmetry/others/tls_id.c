// id handed out by a counter, kept in TLS, used as index
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
static atomic_int ids; static _Thread_local int me = -1; static int slot[3];
static atomic_int flag;
static int id(void) { if (me < 0) me = atomic_fetch_add(&ids, 1); return me; }
static void *run(void *a) { slot[id()]++; if (id() == 2) assert(atomic_exchange(&flag, 1) == 0); else if (id()==0) atomic_store(&flag, 2); return 0; }
int main() { pthread_t t[3]; for (int i=0;i<3;i++) pthread_create(&t[i],0,run,0); for (int i=0;i<3;i++) pthread_join(t[i],0);
  for (int i=0;i<3;i++) assert(slot[i]==1); }
