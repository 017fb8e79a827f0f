// getopt on a fixed argument vector, with permutation and an unknown option.
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char *args[] = { "prog", "-a", "file", "-b", "value", "-x", "--", "-c", NULL };
    int c;
    while ((c = getopt(8, args, "ab:c")) != -1) printf("%c %s\n", c == '?' ? '?' : c, optarg ? optarg : "none");
    for (int i = optind; i < 8; i++) puts(args[i]);
    return optind;
}
