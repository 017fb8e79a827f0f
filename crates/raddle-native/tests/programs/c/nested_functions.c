// Nested functions: a trampoline on the stack would need executable memory, so only direct calls; and a nonlocal goto.
#include <stdio.h>

static int outer(int n) {
    __label__ out;
    int total = 0;
    void add(int k) { total += k * n; if (total > 1000) goto out; }
    for (int i = 0; i < 100; i++) add(i);
out:
    return total;
}

int main(void) {
    printf("%d %d %d\n", outer(1), outer(5), outer(0));
    return 0;
}
