// An exception that leaves a noexcept function calls the terminate handler, which exits.
#include <cstdio>
#include <cstdlib>
#include <exception>

static void handler() { std::puts("terminate"); std::exit(9); }
static void thrower() noexcept { throw 1; }

int main() {
    std::set_terminate(handler);
    try { thrower(); } catch (int) { std::puts("not reached"); }
}
