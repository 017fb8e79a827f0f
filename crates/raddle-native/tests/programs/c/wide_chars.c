// Wide strings, conversions in the C locale, swprintf, wcstol.
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <wctype.h>

int main(void) {
    wchar_t text[100];
    int n = swprintf(text, 100, L"%d %ls %s %.2f %lc", 42, L"wide", "narrow", 2.5, L'x');
    char narrow[100];
    size_t m = wcstombs(narrow, text, sizeof narrow);
    printf("%d %zu %s\n", n, m, narrow);
    printf("%zu %d %ld %g\n", wcslen(text), wcscmp(L"abc", L"abd"), wcstol(L"-77", NULL, 10), wcstod(L"1.25", NULL));
    wchar_t *p = wcsstr(text, L"nar"), *q = wcschr(text, L'w');
    printf("%td %td %d %d\n", p - text, q - text, !!iswalpha(L'q'), (int)towupper(L'q'));
    mbstate_t state = { 0 };
    wchar_t c;
    size_t used = mbrtowc(&c, "hello", 5, &state);
    printf("%zu %d\n", used, (int)c);
    wmemset(text, L'=', 10);
    text[10] = 0;
    printf("%ls|%5ls|%.3ls\n", text, L"ab", L"abcdef");
    return 0;
}
