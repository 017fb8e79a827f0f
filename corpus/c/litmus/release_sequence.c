// An update in between keeps a release sequence alive; a store of another thread does not.
#include "litmus.h"

static atomic_int data, flag;

THREAD(sender, atomic_store_explicit(&data, 1, memory_order_relaxed); STORE(flag, 1))
#ifdef BROKEN
THREAD(passer, if (LOAD(flag) == 1) atomic_store_explicit(&flag, 2, memory_order_relaxed))
#else
THREAD(passer, int one = 1; atomic_compare_exchange_strong_explicit(&flag, &one, 2, memory_order_relaxed,
                                                                    memory_order_relaxed))
#endif
THREAD(receiver, if (LOAD(flag) == 2) assert(atomic_load_explicit(&data, memory_order_relaxed) == 1))

int main(void) { RUN(sender, passer, receiver); }
