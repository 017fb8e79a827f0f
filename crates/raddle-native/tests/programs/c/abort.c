// abort ends the process by a signal; unflushed output is lost, flushed output is not.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    puts("flushed");
    fflush(stdout);
    abort();
}
