// argc, argv and an empty environment variable lookup.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    printf("%d %s %d\n", argc, argv[argc] == NULL ? "null" : "not null", argv[0][0] != 0);
    for (int i = 1; i < argc; i++) puts(argv[i]);
    printf("%s\n", getenv("RADDLE_NO_SUCH_VARIABLE") ? "set" : "unset");
    setenv("COLOUR", "blue", 1);
    printf("%s\n", getenv("COLOUR"));
    unsetenv("COLOUR");
    printf("%s\n", getenv("COLOUR") ? "set" : "unset");
    return argc;
}
