// Message passing with relaxed accesses and fences; one of them can be left out.
#include "litmus.h"

static atomic_int data, flag;

#ifndef NO_RELEASE
#define RELEASE_FENCE atomic_thread_fence(memory_order_release)
#else
#define RELEASE_FENCE (void)0
#endif
#ifndef NO_ACQUIRE
#define ACQUIRE_FENCE atomic_thread_fence(memory_order_acquire)
#else
#define ACQUIRE_FENCE (void)0
#endif

THREAD(sender, STORE(data, 1); RELEASE_FENCE; STORE(flag, 1))
THREAD(receiver, if (LOAD(flag)) { ACQUIRE_FENCE; int seen = LOAD(data); assert(seen == 1); (void)seen; })

int main(void) { RUN(sender, receiver); }
