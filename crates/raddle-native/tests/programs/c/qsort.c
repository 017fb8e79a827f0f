// qsort of integers, strings and structures; qsort_r with an argument.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row { char name[12]; int key; double weight; };
static int by_int(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static int by_row(const void *a, const void *b, void *sign) {
    return *(int *)sign * (((const struct row *)a)->key - ((const struct row *)b)->key);
}

int main(void) {
    int v[500];
    for (int i = 0; i < 500; i++) v[i] = (i * 7919) % 1009;
    qsort(v, 500, sizeof *v, by_int);
    for (int i = 0; i < 500; i += 25) printf("%d ", v[i]);
    char *words[] = { "pear", "apple", "fig", "banana", "cherry", "date" };
    qsort(words, 6, sizeof *words, by_text);
    for (int i = 0; i < 6; i++) printf("%s ", words[i]);
    struct row rows[40];
    for (int i = 0; i < 40; i++) { snprintf(rows[i].name, 12, "r%d", i); rows[i].key = i * 17 % 41; rows[i].weight = i / 2.0; }
    int sign = -1;
    qsort_r(rows, 40, sizeof *rows, by_row, &sign);
    for (int i = 0; i < 40; i += 5) printf("%s:%d:%g ", rows[i].name, rows[i].key, rows[i].weight);
    putchar('\n');
    return 0;
}
