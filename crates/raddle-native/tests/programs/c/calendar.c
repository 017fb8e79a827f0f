// gmtime, mktime and strftime on fixed times in UTC.
#include <stdio.h>
#include <string.h>
#include <time.h>

int main(void) {
    time_t times[] = { 0, 951782400, 1078012799, 4102444800, -86400 };
    for (int i = 0; i < 5; i++) {
        struct tm tm;
        char text[100];
        gmtime_r(&times[i], &tm);
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %a %b %j %U %p", &tm);
        printf("%s %ld\n", text, (long)timegm(&tm));
    }
    return 0;
}
