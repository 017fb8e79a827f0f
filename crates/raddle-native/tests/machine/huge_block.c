// A block of 100 GB.
#include <assert.h>
#include <stdlib.h>

int main(void) {
    char*p = malloc(100ull<<30);
    if(p) {
        p[5] = 1;
        p[99ull<<30] = 2;
        assert(p[5] == 1);
        free(p);
    }
    return 0;
}
