// A bounded queue for many writers and readers: they reserve a slot with a compare-exchange, and wait for those before them.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define SLOTS 4

static atomic_uint reserved, were_read, written;
static atomic_int slots[SLOTS];

static atomic_int *begin_read(void) {
    unsigned both = atomic_load_explicit(&reserved, memory_order_acquire), read, write;
    do {
        read = both >> 16 & 0xffff;
        write = both & 0xffff;
        if (write == read)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&reserved, &both, both + (1 << 16), memory_order_acq_rel,
                                                    memory_order_acq_rel));
    while ((atomic_load_explicit(&written, memory_order_acquire) & 0xffff) != write)
        ;
    return &slots[read % SLOTS];
}

static atomic_int *begin_write(void) {
    unsigned both = atomic_load_explicit(&reserved, memory_order_acquire), read, write;
    do {
        read = both >> 16 & 0xffff;
        write = both & 0xffff;
        if (write == ((read + SLOTS) & 0xffff))
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&reserved, &both, read << 16 | ((write + 1) & 0xffff),
                                                    memory_order_acq_rel, memory_order_acq_rel));
    while ((atomic_load_explicit(&were_read, memory_order_acquire) & 0xffff) != read)
        ;
    return &slots[write % SLOTS];
}

static void *writer(void *unused) {
    atomic_int *slot = begin_write();
    if (slot) {
        atomic_store_explicit(slot, 42, memory_order_relaxed);
        atomic_fetch_add_explicit(&written, 1, memory_order_release);
    }
    return unused;
}

static void *reader(void *unused) {
    atomic_int *slot = begin_read();
    if (slot) {
        int value = atomic_load_explicit(slot, memory_order_relaxed);
        assert(value == 42);
        atomic_fetch_add_explicit(&were_read, 1, memory_order_release);
    }
    return unused;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i < 2 ? writer : reader, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
