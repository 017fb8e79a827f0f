#include <assert.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
struct point { int x, y; };
static struct point add(struct point a, struct point b) { struct point c = {a.x + b.x, a.y + b.y}; return c; }
static int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
static int sw(int v) {
    int r = 0;
    switch (v) {
    case 1: r += 1;
    case 2: r += 10; break;
    case 5 ... 7: r = 50; break;
    default: r = -1;
    case 9: r += 100;
    }
    return r;
}
static int loop(int n) {
    int i = 0, s = 0;
again:
    if (i < n) { s += i; i++; goto again; }
    goto end;
    s = 1000;
end:
    return s;
}
static int nested(int v) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (i * j == v) goto out;
            if (j == 2) continue;
        }
    }
    return -1;
out:
    return v;
}
int main(void) {
    int v = __VERIFIER_nondet_int();
    __VERIFIER_assume(v >= 0 && v <= 9);
    int r = sw(v);
    assert(r == (v == 1 ? 11 : v == 2 ? 10 : v >= 5 && v <= 7 ? 50 : v == 9 ? 100 : 99));
    assert(loop(4) == 6);
    assert(nested(4) == 4 && nested(2) == 2 && nested(3) == -1);
    assert(fact(5) == 120);
    struct point p = {1, 2}, q = add(p, (struct point){.y = 5, .x = 3});
    assert(q.x == 4 && q.y == 7);
    int a[4] = {[2] = 7, 8}; int *b = a; b += 2;
    assert(*b++ == 7 && b[0] == 8 && b - a == 3 && a[0] == 0);
    a[v & 3] = 42; int sum = a[0] + a[1] + a[2] + a[3];
    assert(sum == 57 - ((v & 3) == 2 ? 7 : (v & 3) == 3 ? 8 : 0));
    char *s = "hello"; int n = 0; while (s[n]) n++; assert(n == 5);
    unsigned char c = 255; c++; assert(c == 0);
    int k = 0; do { k++; } while (k < v); assert(k == (v < 1 ? 1 : v));
    int (*f)(int) = v > 3 ? fact : loop; assert(f(3) == (v > 3 ? 6 : 3));
}
