// Reading an empty standard input.
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char line[10];
    int n = -5;
    printf("%d\n", fgets(line, sizeof line, stdin) == NULL);
    printf("%d %d\n", scanf("%d", &n), n);
    printf("%zd\n", read(0, line, sizeof line));
    return 0;
}
