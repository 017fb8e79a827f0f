// A write behind the end of a block.
#include <stdlib.h>

int main(void) {
    int *cells = malloc(4 * sizeof *cells);
    for (int i = 0; i <= 4; i++)
        cells[i] = i;
    free(cells);
}
