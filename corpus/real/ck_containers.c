// Containers of Concurrency Kit. -DCLIENT chooses one, -DBROKEN a wrong use.
#include <assert.h>
#include <pthread.h>

#include <ck_barrier.h>
#include <ck_fifo.h>
#include <ck_ring.h>
#include <ck_sequence.h>
#include <ck_stack.h>

enum { RING, STACK, FIFO_SPSC, SEQUENCE, STACK_MPNC };

static int values[2] = {1, 2};
static ck_ring_t ring;
static ck_ring_buffer_t buffer[4];
static ck_stack_t stack = CK_STACK_INITIALIZER;
static ck_stack_entry_t entries[2];
static ck_fifo_spsc_t fifo;
static ck_fifo_spsc_entry_t stub, fifo_entries[2];
static ck_sequence_t version = CK_SEQUENCE_INITIALIZER;
static volatile int low, high;

static void *produce(void *unused) {
    switch (CLIENT) {
    case RING:
        for (int i = 0; i < 2; i++)
            assert(ck_ring_enqueue_spsc(&ring, buffer, &values[i]));
        break;
    case STACK:
    case STACK_MPNC:
        ck_stack_push_upmc(&stack, &entries[0]);
        break;
    case FIFO_SPSC:
        for (int i = 0; i < 2; i++)
            ck_fifo_spsc_enqueue(&fifo, &fifo_entries[i], &values[i]);
        break;
    case SEQUENCE:
        ck_sequence_write_begin(&version);
        low = 1;
        high = 1;
        ck_sequence_write_end(&version);
        break;
    }
    return 0;
}

static void consume(void) {
    void *value;
    int last = 0;
    switch (CLIENT) {
    case RING:
        for (int i = 0; i < 2; i++)
            if (ck_ring_dequeue_spsc(&ring, buffer, &value)) {
                assert(*(int *)value == last + 1);
                last++;
            }
        break;
    case STACK:
        ck_stack_push_upmc(&stack, &entries[1]);
        assert(ck_stack_pop_upmc(&stack));
        break;
    case STACK_MPNC:
        ck_stack_push_mpnc(&stack, &entries[1]);
        break;
    case FIFO_SPSC:
        for (int i = 0; i < 2; i++)
            if (ck_fifo_spsc_dequeue(&fifo, &value)) {
                assert(*(int *)value == last + 1);
                last++;
            }
        break;
    case SEQUENCE: {
        int one, other;
        unsigned before;
        do {
            before = ck_sequence_read_begin(&version);
            one = low;
            other = high;
#ifdef BROKEN
            break;
#endif
        } while (ck_sequence_read_retry(&version, before));
        assert(one == other);
        break;
    }
    }
#ifdef BROKEN
    assert(CLIENT != RING || last == 2);
#endif
}

int main(void) {
    pthread_t id;
    ck_ring_init(&ring, 4);
    ck_fifo_spsc_init(&fifo, &stub);
    pthread_create(&id, 0, produce, 0);
    consume();
    pthread_join(id, 0);
}
