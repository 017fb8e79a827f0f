// A failing assertion prints to the standard error and aborts.
#include <assert.h>
#include <stdio.h>

int main(int argc, char **argv) {
    (void)argv;
    puts("before");
    fflush(stdout);
    assert(argc == 77);
    return 0;
}
