// errno is thread-local; perror and strerror name it; failing library calls set it.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    for (int i = 0; i < 40; i++) puts(strerror(i));
    puts(strerror(12345));
    errno = 0;
    strtol("99999999999999999999", NULL, 10);
    perror("strtol");
    errno = 0;
    volatile double x = -1;
    x = log(x);
    printf("%d %d\n", errno == EDOM, isnan(x));
    errno = 0;
    void *volatile p = malloc((size_t)-1 / 2 - 4096);
    printf("%d %d\n", p == NULL, errno == ENOMEM);
    return 0;
}
