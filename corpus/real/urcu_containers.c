// Containers of Userspace RCU. -DCLIENT chooses one, -DBROKEN a wrong expectation.
#define _LGPL_SOURCE
#include <assert.h>
#include <pthread.h>

#include <urcu/lfstack.h>
#include <urcu/rculist.h>
#include <urcu/uatomic.h>
#include <urcu/wfcqueue.h>
#include <urcu/wfstack.h>

enum { WFCQUEUE, WFSTACK, LFSTACK, LIST, COUNTER };

static struct cds_wfcq_head head;
static struct cds_wfcq_tail tail;
static struct cds_wfcq_node queue_node;
static struct cds_wfs_stack wait_free;
static struct cds_wfs_node wait_free_nodes[2];
static struct cds_lfs_stack lock_free;
static struct cds_lfs_node lock_free_nodes[2];
static CDS_LIST_HEAD(list);
struct item {
    struct cds_list_head links;
    int value;
};
static struct item item;
static int counter, is_pushed;

static void *put(void *unused) {
    switch (CLIENT) {
    case WFCQUEUE: cds_wfcq_enqueue(&head, &tail, &queue_node); break;
    case WFSTACK: cds_wfs_push(&wait_free, &wait_free_nodes[0]); break;
    case LFSTACK: cds_lfs_push(&lock_free, &lock_free_nodes[0]); break;
    case LIST:
        item.value = 1;
        cds_list_add_rcu(&item.links, &list);
        break;
    case COUNTER: uatomic_inc(&counter); break;
    }
    return 0;
}

static int take(void) {
    int taken = 0;
    switch (CLIENT) {
    case WFCQUEUE: return cds_wfcq_dequeue_blocking(&head, &tail) == &queue_node;
    case WFSTACK:
        if (!is_pushed++) {
            cds_wfs_push(&wait_free, &wait_free_nodes[1]);
            assert(cds_wfs_pop_blocking(&wait_free));
        }
        return cds_wfs_pop_blocking(&wait_free) != 0;
    case LFSTACK:
        if (!is_pushed++) {
            cds_lfs_push(&lock_free, &lock_free_nodes[1]);
            assert(cds_lfs_pop_blocking(&lock_free));
        }
        return cds_lfs_pop_blocking(&lock_free) != 0;
    case LIST: {
        struct item *it;
        cds_list_for_each_entry_rcu(it, &list, links) {
            assert(it->value == 1);
            taken = 1;
        }
        return taken;
    }
    case COUNTER: return uatomic_add_return(&counter, 1) == 2;
    }
    return 0;
}

int main(void) {
    pthread_t id;
    cds_wfcq_init(&head, &tail);
    cds_wfcq_node_init(&queue_node);
    cds_wfs_init(&wait_free);
    cds_lfs_init(&lock_free);
    for (int i = 0; i < 2; i++) {
        cds_wfs_node_init(&wait_free_nodes[i]);
        cds_lfs_node_init(&lock_free_nodes[i]);
    }
    pthread_create(&id, 0, put, 0);
    int is_taken = take();
#ifdef BROKEN
    assert(is_taken);
#endif
    pthread_join(id, 0);
    assert(is_taken || CLIENT == COUNTER || take());
    assert(CLIENT != COUNTER || uatomic_read(&counter) == 2);
}
