// Nested functions: called directly, through trampolines on the stack, and left by a nonlocal goto.
#include <stdio.h>

static int outer(int n) {
    __label__ out;
    int total = 0;
    void add(int k) { total += k * n; if (total > 1000) goto out; }
    for (int i = 0; i < 100; i++) add(i);
out:
    return total;
}

static int twice(int (*f)(int), int x) { return f(x) + f(x + 1); }

static int through_trampolines(int n) {
    int calls = 0;
    int scaled(int x) { calls++; return x * n; }
    int recursive(int x) { return x < 2 ? x : recursive(x - 1) + recursive(x - 2); }
    int sum = twice(scaled, 5) + twice(recursive, 10);
    return n ? sum + calls + through_trampolines(n - 1) : sum;
}

int main(void) {
    printf("%d\n", through_trampolines(4));
    printf("%d %d %d\n", outer(1), outer(5), outer(0));
    return 0;
}
