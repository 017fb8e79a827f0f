// The functions of string.h that are not about memory blocks.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char text[200] = "alpha,beta;;gamma delta", *save, *rest = text;
    char copy[200];
    strcpy(copy, text);
    for (char *t = strtok_r(copy, ",; ", &save); t; t = strtok_r(NULL, ",; ", &save)) printf("[%s]", t);
    strcpy(copy, text);
    rest = copy;
    for (char *t; (t = strsep(&rest, ",;"));) printf("<%s>", t);
    printf("\n%zu %zu %zu\n", strlen(text), strspn(text, "alph"), strcspn(text, ";"));
    printf("%s %s %s\n", strstr(text, "gam"), strchr(text, 'b'), strrchr(text, 'a'));
    printf("%s %s %d\n", strpbrk(text, ";, "), strcasestr(text, "DELTA"), strcasecmp("HeLLo", "hEllO"));
    printf("%d %d %d\n", strncmp("abcd", "abce", 3), strverscmp("v10", "v9") > 0, strncasecmp("ABx", "aby", 2));
    char *d = strdup(text), *n = strndup(text, 5);
    strcat(d, "!");
    strncat(d, "??????", 2);
    printf("%s %s %s\n", d, n, stpcpy(copy, "stp") == copy + 3 ? "end" : "wrong");
    strncpy(copy, "ab", 5);
    printf("%d %d %zu %s\n", copy[2], copy[4], strnlen("abc", 2), basename("/usr/lib/x"));
    strfry(strcpy(copy, "x"));
    printf("%s %s\n", copy, strsignal(11));
    return 0;
}
