// hash table keyed by pointer: bucket by address bits
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <stdint.h>
#include <assert.h>
static atomic_int bucket[4];
static void *run(void *a) { int *p = malloc(sizeof *p); unsigned h = ((uintptr_t)p >> 36) & 3; int old = atomic_fetch_add(&bucket[h], 1); (void)old; assert(atomic_load(&bucket[2]) <= 1 || h != 2); return 0; }
int main() { pthread_t t[3]; for (int i=0;i<3;i++) pthread_create(&t[i],0,run,0); for (int i=0;i<3;i++) pthread_join(t[i],0);
 assert(!(bucket[1] && bucket[2] && bucket[3])); }
