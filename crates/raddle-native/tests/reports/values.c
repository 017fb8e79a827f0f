// Values of many types in shared memory, and a failed assertion.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum state { EMPTY, FULL = 7 };
struct cell {
    int number;
    bool flag;
    char letter;
    enum state state;
    double ratio;
    struct cell *next;
    void (*action)(void);
};

static struct cell first, *list;
static void act(void) {}

static void *fill(void *argument) {
    struct cell *cell = malloc(sizeof *cell);
    cell->next = &first;
    first.number = -3;
    first.flag = true;
    first.letter = 'x';
    first.state = FULL;
    first.ratio = 0.5;
    first.next = cell;
    first.action = act;
    list = cell;
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, fill, 0);
    struct cell *seen = list;
    bool is_filled = first.flag && first.letter == 'x' && first.state == FULL && first.ratio > 0;
    assert(!(is_filled && first.number == -3 && first.next == seen && first.action == act && seen));
    pthread_join(thread, 0);
}
