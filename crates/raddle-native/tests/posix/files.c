// Reads the file of its first argument and writes two others. A second argument reads the first file in another thread.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static FILE *opened;

static void *write_log(void *unused) {
    FILE *file = fopen("log", "a");
    fprintf(file, "from a thread\n");
    fclose(file);
    return 0;
}
static void *read_again(void *unused) {
    rewind(opened);
    return (void *)(long)fgetc(opened);
}

int main(int argc, char **argv) {
    char text[16] = {0};
    opened = fopen(argv[1], "r");
    assert(fread(text, 1, 15, opened) == 6 && strcmp(text, "hello\n") == 0);
    rewind(opened);
    assert(fgetc(opened) == 'h');
    fseek(opened, -2, SEEK_END);
    assert(fgetc(opened) == 'o');
    FILE *copy = fopen("copy", "w");
    fputs(text, copy);
    fclose(copy);
    pthread_t id;
    pthread_create(&id, 0, argc > 2 ? read_again : write_log, 0);
    pthread_join(id, 0);
    fclose(opened);
    assert(argc > 9);
}
