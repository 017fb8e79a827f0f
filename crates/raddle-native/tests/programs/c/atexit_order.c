// Handlers run in reverse order; a handler may register another.
#include <stdio.h>
#include <stdlib.h>

static void late(void) { puts("late"); }
static void first(void) { puts("first"); }
static void second(void) { puts("second"); atexit(late); }
static void with_status(int status, void *arg) { printf("on_exit %d %s\n", status, (char *)arg); }
__attribute__((constructor(200))) static void begin_b(void) { puts("begin b"); }
__attribute__((constructor(150))) static void begin_a(void) { puts("begin a"); }
__attribute__((destructor(150))) static void end_a(void) { puts("end a"); }
__attribute__((destructor(200))) static void end_b(void) { puts("end b"); }

int main(void) {
    atexit(first);
    atexit(second);
    on_exit(with_status, "argument");
    puts("main");
    exit(42);
}
