// A recursive-descent parser and printer.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char *at;
static void skip(void) { while (isspace((unsigned char)*at)) at++; }

static int value(int depth) {
    skip();
    int nodes = 1;
    if (*at == '{' || *at == '[') {
        char close = *at == '{' ? '}' : ']';
        printf("%*s%c\n", 2 * depth, "", *at++);
        for (skip(); *at != close; skip()) {
            nodes += value(depth + 1);
            skip();
            if (*at == ':' || *at == ',') at++;
        }
        printf("%*s%c\n", 2 * depth, "", *at++);
    } else if (*at == '"') {
        const char *start = ++at;
        while (*at != '"') at++;
        printf("%*s<%.*s>\n", 2 * depth, "", (int)(at++ - start), start);
    } else if (*at == '-' || isdigit((unsigned char)*at)) {
        char *end;
        printf("%*s%g\n", 2 * depth, "", strtod(at, &end));
        at = end;
    } else {
        const char *start = at;
        while (isalpha((unsigned char)*at)) at++;
        printf("%*s%.*s\n", 2 * depth, "", (int)(at - start), start);
    }
    return nodes;
}

int main(void) {
    at = " {\"a\": [1, 2.5e3, -0.125, true, {\"deep\": null}], \"text\": \"with spaces\", \"e\": []} ";
    return value(0);
}
