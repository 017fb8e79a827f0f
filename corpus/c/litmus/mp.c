// Message passing.
#include "litmus.h"

static atomic_int data, flag;

THREAD(sender, STORE(data, 1); STORE(flag, 1))
THREAD(receiver, if (LOAD(flag)) { int seen = LOAD(data); assert(seen == 1); (void)seen; })

int main(void) { RUN(sender, receiver); }
