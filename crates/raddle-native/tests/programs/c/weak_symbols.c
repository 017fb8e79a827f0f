// An undefined weak function is null; a weak definition is used; an ifunc chooses by a resolver.
#include <stdio.h>

__attribute__((weak)) int missing(void);
__attribute__((weak)) int present(void) { return 4; }
static int chosen_implementation(void) { return 9; }
static int (*resolve(void))(void) { return chosen_implementation; }
int chosen(void) __attribute__((ifunc("resolve")));

int main(void) {
    int (*volatile f)(void) = missing;
    printf("%d %d %d\n", f == 0, present(), chosen());
    return 0;
}
