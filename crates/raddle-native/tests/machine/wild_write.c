// A write to an address that is not mapped.


int main(void) {
    *(volatile int*)0x7fff00001000 = 1;
    return 0;
}
