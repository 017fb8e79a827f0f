// The C locale: localeconv, setlocale queries, strcoll.
#include <locale.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    printf("%s\n", setlocale(LC_ALL, NULL));
    printf("%s\n", setlocale(LC_ALL, "C") ? "C accepted" : "C refused");
    struct lconv *l = localeconv();
    printf("[%s] [%s] [%s] %d\n", l->decimal_point, l->thousands_sep, l->currency_symbol, l->frac_digits);
    printf("%d %d\n", strcoll("abc", "abd") < 0, strcoll("B", "a") < 0);
    printf("%'d\n", 1234567);
    return 0;
}
