// Tables of function pointers, pointers to functions that return pointers to functions.
#include <stdio.h>

typedef int (*binary)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static binary choose(char c) { return c == '+' ? add : c == '-' ? sub : mul; }
static int fold(binary f, const int *v, int n, int start) {
    for (int i = 0; i < n; i++) start = f(start, v[i]);
    return start;
}

int main(void) {
    int v[] = { 1, 2, 3, 4, 5 };
    const char *ops = "+-*";
    binary (*chooser)(char) = choose;
    for (const char *p = ops; *p; p++) printf("%c %d\n", *p, fold(chooser(*p), v, 5, 1));
    return fold(choose('*'), v, 5, 1) & 0xff;
}
