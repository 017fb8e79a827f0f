// A recursion without an end.
static int deeper(volatile char *above) {
    volatile char here[1000];
    here[0] = above[0];
    return deeper(here) + here[0];
}

int main(void) {
    char first[1] = {0};
    return deeper(first);
}
