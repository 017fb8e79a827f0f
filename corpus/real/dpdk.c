// Locks, rings, stacks and RCU of DPDK's headers. -DCLIENT chooses one, -DBROKEN a wrong use.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include <rte_mcslock.h>
#include <rte_pflock.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>
#include <rte_rwlock.h>
#include <rte_seqlock.h>
#include <rte_spinlock.h>
#include <rte_ticketlock.h>

enum { SPIN, TICKET, MCS, RW, PF, SEQLOCK, RING_SPSC, RING_MPMC, QSBR };

static rte_spinlock_t spin = RTE_SPINLOCK_INITIALIZER;
static rte_ticketlock_t ticket = RTE_TICKETLOCK_INITIALIZER;
static rte_mcslock_t *mcs, mcs_nodes[2];
static rte_rwlock_t rw = RTE_RWLOCK_INITIALIZER;
static rte_pflock_t pf = RTE_PFLOCK_INITIALIZER;
static rte_seqlock_t seqlock = RTE_SEQLOCK_INITIALIZER;
static struct {
    struct rte_ring ring;
    void *slots[4];
} ring;
static struct rte_rcu_qsbr *qsbr;
static int *shared, count, value = 1;
static volatile int low, high;

static void lock(int me) {
    switch (CLIENT) {
    case SPIN: rte_spinlock_lock(&spin); break;
    case TICKET: rte_ticketlock_lock(&ticket); break;
    case MCS: rte_mcslock_lock(&mcs, &mcs_nodes[me]); break;
    case RW: rte_rwlock_write_lock(&rw); break;
    case PF: rte_pflock_write_lock(&pf); break;
    }
}
static void unlock(int me) {
    switch (CLIENT) {
    case SPIN: rte_spinlock_unlock(&spin); break;
    case TICKET: rte_ticketlock_unlock(&ticket); break;
    case MCS: rte_mcslock_unlock(&mcs, &mcs_nodes[me]); break;
    case RW: rte_rwlock_write_unlock(&rw); break;
    case PF: rte_pflock_write_unlock(&pf); break;
    }
}
static void add(int me) {
#ifndef BROKEN
    lock(me);
#endif
    int old = count;
    count = old + 1;
#ifndef BROKEN
    unlock(me);
#endif
}
static void write_versions(void) {
    rte_seqlock_write_lock(&seqlock);
    low = 1;
    high = 1;
    rte_seqlock_write_unlock(&seqlock);
}
static void read_versions(void) {
    uint32_t version;
    int one, other;
    do {
        version = rte_seqlock_read_begin(&seqlock);
        one = low;
        other = high;
#ifdef BROKEN
        break;
#endif
    } while (rte_seqlock_read_retry(&seqlock, version));
    assert(one == other);
}
static void read_shared(void) {
    int *seen = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    assert(*seen > 0);
    rte_rcu_qsbr_quiescent(qsbr, 0);
    rte_rcu_qsbr_thread_offline(qsbr, 0);
}
static void replace_shared(void) {
    int *old = shared, *new = malloc(sizeof *new);
    *new = 2;
    __atomic_store_n(&shared, new, __ATOMIC_RELEASE);
#ifndef BROKEN
    uint64_t token = rte_rcu_qsbr_start(qsbr);
    rte_rcu_qsbr_check(qsbr, token, true);
#endif
    free(old);
}
static void take(void) {
    void *taken;
    int is_there = rte_ring_dequeue(&ring.ring, &taken) == 0;
#ifdef BROKEN
    assert(is_there);
#endif
    assert(!is_there || taken == &value);
}

static void act(int me) {
    switch (CLIENT) {
    case SEQLOCK: me ? read_versions() : write_versions(); break;
    case RING_SPSC:
    case RING_MPMC:
        if (me)
            take();
        else
            assert(rte_ring_enqueue(&ring.ring, &value) == 0);
        break;
    case QSBR: me ? replace_shared() : read_shared(); break;
    default: add(me);
    }
}
static void *run(void *unused) {
    act(0);
    return 0;
}

int main(void) {
    pthread_t id;
    if (CLIENT == RING_SPSC || CLIENT == RING_MPMC) {
        ring.ring.size = 4;
        ring.ring.mask = ring.ring.capacity = 3;
        ring.ring.prod.sync_type = CLIENT == RING_SPSC ? RTE_RING_SYNC_ST : RTE_RING_SYNC_MT;
        ring.ring.cons.sync_type = ring.ring.prod.sync_type;
    }
    if (CLIENT == QSBR) {
        size_t size = sizeof *qsbr + sizeof(struct rte_rcu_qsbr_cnt) * __RTE_QSBR_THRID_ARRAY_ELM_SIZE
            + __RTE_QSBR_THRID_ARRAY_SIZE(__RTE_QSBR_THRID_ARRAY_ELM_SIZE);
        qsbr = aligned_alloc(RTE_CACHE_LINE_SIZE, (size + RTE_CACHE_LINE_MASK) & ~(size_t)RTE_CACHE_LINE_MASK);
        memset(qsbr, 0, size);
        qsbr->max_threads = __RTE_QSBR_THRID_ARRAY_ELM_SIZE;
        qsbr->num_elems = 1;
        qsbr->token = __RTE_QSBR_CNT_INIT;
        *__RTE_QSBR_THRID_ARRAY_ELM(qsbr, 0) = 1;
        qsbr->num_threads = 1;
        shared = malloc(sizeof *shared);
        *shared = 1;
        rte_rcu_qsbr_thread_online(qsbr, 0);
    }
    pthread_create(&id, 0, run, 0);
    act(1);
    pthread_join(id, 0);
    assert(CLIENT > PF || count == 2);
}
