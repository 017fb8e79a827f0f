// Userspace RCU, flavour mb: a reader sees a whole version. -DBROKEN frees the old version at once.
#define RCU_MB
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <urcu.h>

struct version {
    int low, high;
};
static struct version *current;

static void *read_version(void *unused) {
    rcu_register_thread();
    rcu_read_lock();
    struct version *seen = rcu_dereference(current);
    assert(seen->low == seen->high);
    rcu_read_unlock();
    rcu_unregister_thread();
    return 0;
}

int main(void) {
    pthread_t id;
    rcu_register_thread();
    current = calloc(1, sizeof *current);
    pthread_create(&id, 0, read_version, 0);
    struct version *old = current, *new = malloc(sizeof *new);
    new->low = new->high = 1;
    rcu_assign_pointer(current, new);
#ifndef BROKEN
    synchronize_rcu();
#endif
    free(old);
    pthread_join(id, 0);
    rcu_unregister_thread();
    free(new);
}
