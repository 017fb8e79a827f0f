// A privileged instruction.


int main(int c, char**v) {
    __asm__ volatile("hlt");
    return 0;
}
