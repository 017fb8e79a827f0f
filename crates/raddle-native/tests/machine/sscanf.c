// sscanf with more arguments than registers.
#include <assert.h>
#include <stdio.h>

int main(void) {
    int a, b, c, d, e, f, g;
    int n=sscanf("1 2 3 4 5 6 7","%d %d %d %d %d %d %d",&a,&b,&c,&d,&e,&f,&g);
    assert(n == 7 && a == 1 && g == 7 && f == 6);
    return 0;
}
