// A block that is never freed.
#include <stdlib.h>

int main(void) {
    int *block = malloc(sizeof *block);
    *block = 1;
}
