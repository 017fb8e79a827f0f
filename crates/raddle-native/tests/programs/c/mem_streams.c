// fmemopen and open_memstream: stdio without files.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < 200; i++) fprintf(out, "%d:%x\n", i, i * i);
    fclose(out);
    FILE *in = fmemopen(text, size, "r");
    int key, lines = 0;
    unsigned value, sum = 0;
    while (fscanf(in, "%d:%x", &key, &value) == 2) { sum = sum * 7 + value + key; lines++; }
    rewind(in);
    char *line = NULL;
    size_t room = 0;
    long length = getline(&line, &room, in);
    printf("%zu %d %u %ld %s", size, lines, sum, length, line);
    fclose(in);
    free(line);
    free(text);
    return 0;
}
