// bsearch and lfind on sorted and unsorted arrays.
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static int order(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int main(void) {
    int a[50];
    size_t n = 50;
    for (int i = 0; i < 50; i++) a[i] = 3 * i;
    int hits = 0;
    for (int k = 0; k < 160; k++) {
        int *p = bsearch(&k, a, n, sizeof *a, order);
        if (p) hits += (int)(p - a);
        int *q = lfind(&k, a, &n, sizeof *a, order);
        if (p != q) return 1;
    }
    printf("%d\n", hits);
    return 0;
}
