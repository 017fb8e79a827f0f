// A loop without accesses.


int main(void) {
    for(;;) __asm__ volatile("");
}
