// A reader-writer lock in one word: many readers, or one writer.
#include "locks.h"

enum { WRITER = 1 << 20 };

static atomic_int word;

static void *run(void *argument) {
    int expected = 0;
    while (!atomic_compare_exchange_strong_explicit(&word, &expected, WRITER, ACQUIRE,
                                                    memory_order_relaxed))
        expected = 0;
    counter++;
    atomic_fetch_sub_explicit(&word, WRITER, RELEASE);

    while (atomic_fetch_add_explicit(&word, 1, ACQUIRE) >= WRITER) {
        atomic_fetch_sub_explicit(&word, 1, memory_order_relaxed);
        while (atomic_load_explicit(&word, memory_order_relaxed) >= WRITER)
            ;
    }
    assert(counter >= 1);
    atomic_fetch_sub_explicit(&word, 1, RELEASE);
    return 0;
}
