// the address of a TLS variable is the owner of a lock (recursive lock by hand)
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <stdint.h>
static _Thread_local char me; static _Atomic(void*) owner; static int depth, n;
static void lock(void) { void *o; if (atomic_load(&owner) == &me) { depth++; return; } do { o = 0; } while (!atomic_compare_exchange_weak(&owner, &o, &me)); depth = 1; }
static void unlock(void) { if (--depth == 0) atomic_store(&owner, 0); }
static void *run(void *a) { lock(); lock(); n++; unlock(); unlock(); return 0; }
int main() { pthread_t t[3]; for (int i=0;i<3;i++) pthread_create(&t[i],0,run,0); for (int i=0;i<3;i++) pthread_join(t[i],0); assert(n==3); }
