// A program uses what it has freed, without any threads.
#include <stdlib.h>

int main(void) {
    int *x = malloc(sizeof *x);
    *x = 1;
    free(x);
    return *x;
}
