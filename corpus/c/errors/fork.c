// What Raddle does not model is refused where it is called.
#include <unistd.h>

int main(void) { return fork() < 0; }
