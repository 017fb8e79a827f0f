// A program that gives up.
#include <stdlib.h>

int main(void) { abort(); }
