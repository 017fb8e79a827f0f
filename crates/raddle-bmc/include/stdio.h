#pragma once
#include <stddef.h>
typedef struct __raddle_file FILE;
extern FILE *stdin, *stdout, *stderr;
int printf(const char *, ...);
int fprintf(FILE *, const char *, ...);
int puts(const char *);
int putchar(int);
int fflush(FILE *);
void perror(const char *);
