// rand, random, drand48 and rand_r give the sequences of glibc.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    srand(42);
    srand48(7);
    unsigned state = 5;
    for (int i = 0; i < 20; i++) printf("%d %ld %.15g %ld %d\n", rand(), random(), drand48(), lrand48(), rand_r(&state));
    return 0;
}
