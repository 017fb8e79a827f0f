// A read of an address that is not mapped.


int main(void) {
    return *(volatile int*)0x123456789000;
}
