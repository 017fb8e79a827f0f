// A block is freed twice by the same thread.
#include <stdlib.h>

int main(void) {
    void *block = malloc(8);
    free(block);
    free(block);
}
