// A field of 200 KB.
#include <assert.h>
#include <stdio.h>

int main(void) {
    char b[10];
    int n=snprintf(b,10,"%200000d\n",1);
    assert(n == 200001);
    return 0;
}
