/* Library functions that print or format. They have a variable number of arguments, which Rust cannot have:
   they format with the C library's own function, whose name is free, and call entries of the stub. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define HIDDEN __attribute__((visibility("hidden")))

void raddle_hold(int holds);
void raddle_print(const char *text, size_t length);
void raddle_read_string(const char *text, size_t most);
void raddle_write_bytes(char *to, size_t size);
void raddle_refuse(const char *message);
void *malloc(size_t size);
void free(void *block);
size_t strlen(const char *text);
int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, va_list list);

static int format_to(char *to, size_t size, const char *format, va_list list)
{
    return __vsnprintf_chk(to, size, 0, (size_t)-1, format, list);
}

/* Skips digits, or takes a number from the list. */
static const char *number(const char *at, va_list *list, long *value)
{
    if (*at == '*') {
        *value = va_arg(*list, int);
        return at + 1;
    }
    for (; *at >= '0' && *at <= '9'; at++)
        *value = (*value < 0 ? 0 : *value * 10) + (*at - '0');
    return at;
}

/* Takes the argument of one conversion, which `at` is behind the `%` of. A string is read. */
static const char *conversion(const char *at, va_list *list)
{
    long width = -1, precision = -1;
    int is_long = 0, is_long_double = 0;
    while (*at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '0' || *at == '\'')
        at++;
    at = number(at, list, &width);
    if (*at == '.') {
        precision = 0;
        at = number(at + 1, list, &precision);
    }
    for (; *at == 'h' || *at == 'l' || *at == 'j' || *at == 'z' || *at == 't' || *at == 'L'; at++) {
        is_long |= *at != 'h';
        is_long_double |= *at == 'L';
    }
    switch (*at) {
    case 0:
        return at;
    case '%':
    case 'm':
        break;
    case 'n':
        raddle_refuse("prints with %n, which Raddle does not model");
        break;
    case 's':
        raddle_read_string(va_arg(*list, const char *), precision < 0 ? (size_t)-1 : (size_t)precision);
        break;
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
        if (is_long_double)
            (void)va_arg(*list, long double);
        else
            (void)va_arg(*list, double);
        break;
    case 'p':
        (void)va_arg(*list, void *);
        break;
    default:
        if (is_long)
            (void)va_arg(*list, long);
        else
            (void)va_arg(*list, int);
    }
    return at + 1;
}

/* Reads all strings that the format asks for: other threads may have written them. They stay as they were read until
   raddle_hold(0). */
static void read_strings(const char *format, va_list arguments)
{
    va_list list;
    raddle_hold(1);
    va_copy(list, arguments);
    for (const char *at = format; *at;) {
        if (*at++ == '%')
            at = conversion(at, &list);
    }
    va_end(list);
}

/* How long the text is. */
static int length_of(const char *format, va_list arguments)
{
    va_list list;
    va_copy(list, arguments);
    int length = format_to(NULL, 0, format, list);
    va_end(list);
    return length;
}

HIDDEN int vsnprintf(char *to, size_t size, const char *format, va_list list)
{
    read_strings(format, list);
    int length = length_of(format, list);
    if (length >= 0 && size > 0) {
        raddle_write_bytes(to, (size_t)length < size ? (size_t)length + 1 : size);
        format_to(to, size, format, list);
    }
    raddle_hold(0);
    return length;
}

HIDDEN int vsprintf(char *to, const char *format, va_list list)
{
    return vsnprintf(to, 1UL << 40, format, list);
}

HIDDEN int vasprintf(char **to, const char *format, va_list list)
{
    read_strings(format, list);
    int length = length_of(format, list);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text) {
        raddle_write_bytes(text, (size_t)length + 1);
        format_to(text, (size_t)length + 1, format, list);
    }
    raddle_hold(0);
    raddle_write_bytes((char *)to, sizeof *to);
    *to = text;
    return text ? length : -1;
}

HIDDEN int vprintf(const char *format, va_list list)
{
    char text[1024], *longer = text;
    va_list again;
    read_strings(format, list);
    va_copy(again, list);
    int length = format_to(text, sizeof text, format, again);
    va_end(again);
    if (length >= (int)sizeof text) {
        longer = malloc((size_t)length + 1);
        format_to(longer, (size_t)length + 1, format, list);
    }
    raddle_hold(0);
    if (length >= 0)
        raddle_print(longer, (size_t)length);
    if (longer != text)
        free(longer);
    return length;
}

/* Only what is printed can be shown: a file would be written again and again. */
static void check(FILE *stream)
{
    if (stream != stdout && stream != stderr)
        raddle_refuse("writes to a file, which Raddle does not model");
}

HIDDEN int vfprintf(FILE *stream, const char *format, va_list list)
{
    check(stream);
    return vprintf(format, list);
}

HIDDEN int fputs(const char *text, FILE *stream)
{
    check(stream);
    raddle_print(text, strlen(text));
    return 1;
}

HIDDEN int fputc(int character, FILE *stream)
{
    char text = (char)character;
    check(stream);
    raddle_print(&text, 1);
    return (unsigned char)text;
}

HIDDEN int putc(int character, FILE *stream)
{
    return fputc(character, stream);
}

HIDDEN size_t fwrite(const void *from, size_t size, size_t count, FILE *stream)
{
    check(stream);
    raddle_print(from, size * count);
    return count;
}

#define VARIADIC(declaration, last, call) \
    HIDDEN int declaration                \
    {                                     \
        va_list list;                     \
        va_start(list, last);             \
        int length = call;                \
        va_end(list);                     \
        return length;                    \
    }

VARIADIC(printf(const char *format, ...), format, vprintf(format, list))
VARIADIC(fprintf(FILE *stream, const char *format, ...), format, vfprintf(stream, format, list))
VARIADIC(sprintf(char *to, const char *format, ...), format, vsprintf(to, format, list))
VARIADIC(snprintf(char *to, size_t size, const char *format, ...), format, vsnprintf(to, size, format, list))
VARIADIC(asprintf(char **to, const char *format, ...), format, vasprintf(to, format, list))

/* The C++ library counts without atomic updates as long as there is one thread. */
HIDDEN const char __libc_single_threaded = 0;
