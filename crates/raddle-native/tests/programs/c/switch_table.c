// A dense switch (jump table), a sparse one (comparisons) and one on 64-bit values.
#include <stdio.h>

static int dense(int x) {
    switch (x) {
    case 0: return 3; case 1: return 1; case 2: return 4; case 3: return 1; case 4: return 5;
    case 5: return 9; case 6: return 2; case 7: return 6; case 8: return 5; case 9: return 35;
    default: return -1;
    }
}
static int sparse(int x) {
    switch (x) {
    case -1000: return 1; case 7: return 2; case 1 << 20: return 3; case 99 ... 120: return 4; default: return 0;
    }
}
static int wide(long x) {
    switch (x) { case 1L << 40: return 1; case -1L: return 2; case 1L << 41: return 3; default: return 0; }
}

int main(void) {
    for (int i = -2; i < 12; i++) printf("%d ", dense(i));
    printf("%d %d %d %d %d ", sparse(-1000), sparse(7), sparse(1 << 20), sparse(110), sparse(8));
    printf("%d %d %d %d\n", wide(1L << 40), wide(-1), wide(1L << 41), wide(0));
    return 0;
}
