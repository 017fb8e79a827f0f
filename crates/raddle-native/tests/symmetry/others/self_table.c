// table of pthread_self; a thread looks up whether it is the first
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
static _Atomic pthread_t first; static atomic_int n;
static void *run(void *a) { pthread_t none = 0, me = pthread_self(); if (atomic_compare_exchange_strong(&first, &none, me)) atomic_fetch_add(&n, 1); else assert(!pthread_equal(none, me)); return 0; }
int main() { pthread_t t[3]; for (int i=0;i<3;i++) pthread_create(&t[i],0,run,0); for (int i=0;i<3;i++) pthread_join(t[i],0); assert(n==1); assert(pthread_equal(first, t[0]) || pthread_equal(first, t[1])); }
