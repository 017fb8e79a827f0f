// Every classification of ctype.h for every byte.
#include <ctype.h>
#include <stdio.h>

int main(void) {
    for (int c = -1; c < 256; c++) {
        int bits = !!isalpha(c) | !!isdigit(c) << 1 | !!isspace(c) << 2 | !!ispunct(c) << 3 | !!isupper(c) << 4 |
                   !!islower(c) << 5 | !!isxdigit(c) << 6 | !!iscntrl(c) << 7 | !!isprint(c) << 8 | !!isgraph(c) << 9;
        printf("%03x%c", bits, c % 16 == 15 ? '\n' : ' ');
    }
    for (int c = 0; c < 128; c++) putchar(isprint(c) ? toupper(c) : '.');
    for (int c = 0; c < 128; c++) putchar(isprint(c) ? tolower(c) : '.');
    putchar('\n');
    return 0;
}
