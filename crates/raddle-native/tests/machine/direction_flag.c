// A failed round of a waiting loop leaves the direction flag set, so that the copy after it runs backwards.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *writer(void *unused) {
    flag = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    char text[8] = "abcdefg";
    char *from = text + 2, *to = text + 5;
    long count = 2;
    __asm__ volatile("cld\n1: cmpl $0, %3\n jne 2f\n std\n jmp 1b\n2: rep movsb\n cld"
                     : "+S"(from), "+D"(to), "+c"(count)
                     : "m"(flag)
                     : "memory", "cc");
    pthread_join(thread, 0);
    assert(text[4] != 'b');
    return 0;
}
