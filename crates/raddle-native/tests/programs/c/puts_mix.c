// Buffering: stdout and stderr in order, setvbuf, ungetc on an empty standard input.
#include <stdio.h>

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("line ");
    fputs("buffered\n", stdout);
    fprintf(stderr, "error %d\n", 1);
    putchar('c');
    putc('\n', stdout);
    fwrite("raw\n", 1, 4, stdout);
    int c = getchar();
    printf("%d %d\n", c == EOF, feof(stdin) != 0);
    ungetc('z', stdin);
    printf("%c\n", getchar());
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("unbuffered %d\n", 2);
    return ferror(stdout) ? 1 : 0;
}
