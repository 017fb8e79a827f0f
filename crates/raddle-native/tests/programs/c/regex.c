// POSIX regular expressions.
#include <regex.h>
#include <stdio.h>

int main(void) {
    const char *patterns[] = { "^[a-z]+$", "([0-9]+)-([0-9]+)", "a(b|c)*d", "(", "x{2,3}" };
    const char *texts[] = { "hello", "tel 123-456", "abcbcbd", "xxxx" };
    for (int p = 0; p < 5; p++) {
        regex_t r;
        int error = regcomp(&r, patterns[p], REG_EXTENDED);
        if (error) {
            char text[100];
            regerror(error, &r, text, sizeof text);
            puts(text);
            continue;
        }
        for (int t = 0; t < 4; t++) {
            regmatch_t m[3];
            if (regexec(&r, texts[t], 3, m, 0) == 0)
                printf("%s matches %s at %d-%d, %d-%d\n", patterns[p], texts[t], (int)m[0].rm_so, (int)m[0].rm_eo, (int)m[1].rm_so, (int)m[1].rm_eo);
        }
        regfree(&r);
    }
    return 0;
}
