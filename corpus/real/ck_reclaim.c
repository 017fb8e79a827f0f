// Reclamation, barriers, bit maps and queues with several consumers of Concurrency Kit. -DCLIENT chooses one, -DBROKEN a wrong use.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include <ck_barrier.h>
#include <ck_bitmap.h>
#include <ck_epoch.h>
#include <ck_fifo.h>
#include <ck_hp.h>
#include <ck_ring.h>

enum { HAZARD, EPOCH, BARRIER, RING_MPMC, FIFO_MPMC, BITMAP };

struct node {
    ck_hp_hazard_t hazard;
    ck_epoch_entry_t entry;
    int value;
};

static struct node *shared;
static ck_hp_t hazards;
static ck_hp_record_t hazard_records[2];
static void *hazard_pointers[2][1];
static ck_epoch_t epoch;
static ck_epoch_record_t epoch_records[2];
static ck_barrier_centralized_t barrier = CK_BARRIER_CENTRALIZED_INITIALIZER;
static ck_ring_t ring;
static ck_ring_buffer_t buffer[4];
static ck_fifo_mpmc_t fifo;
static ck_fifo_mpmc_entry_t stub, fifo_entry;
static CK_BITMAP_INSTANCE(8) bits;
static int value = 1, before[2];

static void read_with_hazard(void) {
    struct node *seen;
    do {
        seen = ck_pr_load_ptr(&shared);
        ck_hp_set_fence(&hazard_records[0], 0, seen);
    } while (ck_pr_load_ptr(&shared) != seen);
    assert(seen->value > 0);
    ck_hp_clear(&hazard_records[0]);
}

static void read_in_epoch(void) {
    ck_epoch_begin(&epoch_records[0], NULL);
    struct node *seen = ck_pr_load_ptr(&shared);
    assert(seen->value > 0);
    ck_epoch_end(&epoch_records[0], NULL);
}

static void replace(void) {
    struct node *old = shared, *new = malloc(sizeof *new);
    new->value = 2;
    // Reclamation looks at the pointers of readers after this, so a plain store would be too weak.
    ck_pr_fas_ptr(&shared, new);
#ifdef BROKEN
    free(old);
#else
    if (CLIENT == HAZARD) {
        ck_hp_free(&hazard_records[1], &old->hazard, old, old);
    } else {
        ck_epoch_synchronize(&epoch_records[1]);
        free(old);
    }
#endif
}

static void meet(int me) {
    ck_barrier_centralized_state_t state = CK_BARRIER_CENTRALIZED_STATE_INITIALIZER;
    ck_pr_store_int(&before[me], 1);
#ifndef BROKEN
    ck_barrier_centralized(&barrier, &state, 2);
#endif
    assert(ck_pr_load_int(&before[1 - me]) == 1);
}

static void put(void) {
    if (CLIENT == RING_MPMC)
        assert(ck_ring_enqueue_mpmc(&ring, buffer, &value));
    else
        ck_fifo_mpmc_enqueue(&fifo, &fifo_entry, &value);
}

static void take(void) {
    ck_fifo_mpmc_entry_t *garbage;
    int *taken = NULL;
    _Bool is_there = CLIENT == RING_MPMC ? ck_ring_dequeue_mpmc(&ring, buffer, &taken)
                                         : ck_fifo_mpmc_dequeue(&fifo, &taken, &garbage);
#ifdef BROKEN
    assert(is_there);
#endif
    assert(!is_there || taken == &value);
}

static void *run(void *unused) {
    switch (CLIENT) {
    case HAZARD: read_with_hazard(); break;
    case EPOCH: read_in_epoch(); break;
    case BARRIER: meet(0); break;
    case BITMAP: CK_BITMAP_SET(&bits, 1); break;
    default: put();
    }
    return 0;
}

int main(void) {
    pthread_t id;
    shared = malloc(sizeof *shared);
    shared->value = 1;
    ck_hp_init(&hazards, 1, 1, free);
    ck_epoch_init(&epoch);
    for (int i = 0; i < 2; i++) {
        ck_hp_register(&hazards, &hazard_records[i], hazard_pointers[i]);
        ck_epoch_register(&epoch, &epoch_records[i], NULL);
    }
    ck_ring_init(&ring, 4);
    ck_fifo_mpmc_init(&fifo, &stub);
    CK_BITMAP_INIT(&bits, 8, 0);
    pthread_create(&id, 0, run, 0);
    switch (CLIENT) {
    case HAZARD:
    case EPOCH: replace(); break;
    case BARRIER: meet(1); break;
    case BITMAP: CK_BITMAP_SET(&bits, 2); break;
    default: take();
    }
    pthread_join(id, 0);
#ifdef BROKEN
    assert(CLIENT != BITMAP || CK_BITMAP_TEST(&bits, 3));
#endif
    assert(CLIENT != BITMAP || (CK_BITMAP_TEST(&bits, 1) && CK_BITMAP_TEST(&bits, 2)));
}
