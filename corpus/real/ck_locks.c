// Locks of Concurrency Kit: two threads count under one. -DLOCK chooses the lock, -DBROKEN leaves it out.
#include <assert.h>
#include <pthread.h>

#include <ck_brlock.h>
#include <ck_bytelock.h>
#include <ck_pflock.h>
#include <ck_rwlock.h>
#include <ck_sequence.h>
#include <ck_spinlock.h>
#include <ck_swlock.h>
#include <ck_tflock.h>

enum { FAS, CAS, DEC, TICKET, MCS, CLH, ANDERSON, RW, PF, TF, SW };

static ck_spinlock_fas_t fas = CK_SPINLOCK_FAS_INITIALIZER;
static ck_spinlock_cas_t cas = CK_SPINLOCK_CAS_INITIALIZER;
static ck_spinlock_dec_t dec = CK_SPINLOCK_DEC_INITIALIZER;
static ck_spinlock_ticket_t ticket = CK_SPINLOCK_TICKET_INITIALIZER;
static ck_spinlock_mcs_t mcs = CK_SPINLOCK_MCS_INITIALIZER;
static ck_spinlock_clh_t unowned = {.wait = false, .previous = 0}, nodes[2], *clh = &unowned;
static ck_spinlock_anderson_thread_t slots[2];
static ck_spinlock_anderson_t anderson;
static ck_rwlock_t rw = CK_RWLOCK_INITIALIZER;
static ck_pflock_t pf = CK_PFLOCK_INITIALIZER;
static ck_tflock_ticket_t tf = CK_TFLOCK_TICKET_INITIALIZER;
static ck_swlock_t sw = CK_SWLOCK_INITIALIZER;
static int count;

static void add(void) {
    int old = count;
    count = old + 1;
}

static void *run(void *argument) {
    long me = (long)argument;
    (void)me;
#ifdef BROKEN
    add();
#else
    switch (LOCK) {
    case FAS: ck_spinlock_fas_lock(&fas); add(); ck_spinlock_fas_unlock(&fas); break;
    case CAS: ck_spinlock_cas_lock(&cas); add(); ck_spinlock_cas_unlock(&cas); break;
    case DEC: ck_spinlock_dec_lock(&dec); add(); ck_spinlock_dec_unlock(&dec); break;
    case TICKET: ck_spinlock_ticket_lock(&ticket); add(); ck_spinlock_ticket_unlock(&ticket); break;
    case MCS: {
        ck_spinlock_mcs_context_t context;
        ck_spinlock_mcs_lock(&mcs, &context);
        add();
        ck_spinlock_mcs_unlock(&mcs, &context);
        break;
    }
    case CLH: {
        ck_spinlock_clh_t *node = &nodes[me];
        ck_spinlock_clh_lock(&clh, node);
        add();
        ck_spinlock_clh_unlock(&node);
        break;
    }
    case ANDERSON: {
        ck_spinlock_anderson_thread_t *slot;
        ck_spinlock_anderson_lock(&anderson, &slot);
        add();
        ck_spinlock_anderson_unlock(&anderson, slot);
        break;
    }
    case RW: ck_rwlock_write_lock(&rw); add(); ck_rwlock_write_unlock(&rw); break;
    case PF: ck_pflock_write_lock(&pf); add(); ck_pflock_write_unlock(&pf); break;
    case TF: ck_tflock_ticket_write_lock(&tf); add(); ck_tflock_ticket_write_unlock(&tf); break;
    case SW:
        if (me == 0) {
            ck_swlock_write_lock(&sw);
            add();
            add();
            ck_swlock_write_unlock(&sw);
        } else {
            ck_swlock_read_lock(&sw);
            assert(count != 1);
            ck_swlock_read_unlock(&sw);
        }
        break;
    }
#endif
    return 0;
}

int main(void) {
    pthread_t ids[2];
    ck_spinlock_anderson_init(&anderson, slots, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&ids[i], 0, run, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], 0);
    assert(count == 2);
}
