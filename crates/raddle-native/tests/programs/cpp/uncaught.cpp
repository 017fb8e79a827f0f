// An uncaught exception: message on the standard error, then abort.
#include <cstdio>
#include <stdexcept>

int main() {
    std::puts("before");
    std::fflush(stdout);
    throw std::domain_error("nobody catches this");
}
