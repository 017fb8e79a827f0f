// A field of 2 GB.
#include <stdio.h>

int main(void) {
    printf("%2000000000d\n",1);
    return 0;
}
