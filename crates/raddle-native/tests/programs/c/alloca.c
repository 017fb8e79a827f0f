// alloca in a loop and in recursion.
#include <alloca.h>
#include <stdio.h>
#include <string.h>

static int depth(int n) {
    char *p = alloca(n * 16 + 1);
    memset(p, 'a' + n % 26, n * 16);
    p[n * 16] = 0;
    return n == 0 ? 0 : (int)strlen(p) + depth(n - 1);
}

int main(void) {
    long sum = 0;
    for (int i = 1; i < 20; i++) {
        int *p = alloca(i * sizeof *p);
        for (int k = 0; k < i; k++) p[k] = i * k;
        sum += p[i - 1];
    }
    printf("%ld %d\n", sum, depth(30));
    return 3;
}
