// An open hash table with FNV-1a, growing by rehashing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry { char *key; long value; };
static struct entry *table;
static size_t capacity, used;

static struct entry *find(const char *key) {
    unsigned long h = 14695981039346656037UL;
    for (const char *p = key; *p; p++) h = (h ^ (unsigned char)*p) * 1099511628211UL;
    size_t i = h % capacity;
    while (table[i].key && strcmp(table[i].key, key)) i = (i + 1) % capacity;
    return &table[i];
}

static void put(const char *key, long value) {
    if (2 * used >= capacity) {
        struct entry *old = table;
        size_t n = capacity;
        capacity = capacity ? 2 * capacity : 8;
        table = calloc(capacity, sizeof *table);
        for (size_t i = 0; i < n; i++) if (old[i].key) *find(old[i].key) = old[i];
        free(old);
    }
    struct entry *e = find(key);
    if (!e->key) { e->key = strdup(key); used++; }
    e->value += value;
}

int main(void) {
    char key[32];
    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof key, "key%d", i * i % 977);
        put(key, i);
    }
    long sum = 0;
    for (size_t i = 0; i < capacity; i++) if (table[i].key) { sum = sum * 31 + table[i].value; free(table[i].key); }
    free(table);
    printf("%zu %zu %ld\n", used, capacity, sum);
    return 0;
}
