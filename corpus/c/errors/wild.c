// A pointer to nothing.
int main(void) { return *(volatile int *)0x123456789000; }
