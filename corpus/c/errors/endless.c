// A loop in which nothing happens.
int main(void) {
    for (;;)
        ;
}
