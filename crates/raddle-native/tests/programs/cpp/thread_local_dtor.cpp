// thread_local objects of the main thread: lazy construction, destruction before static objects.
#include <cstdio>
#include <string>

struct Loud { std::string n; explicit Loud(const char *n) : n(n) { std::printf("+%s\n", this->n.c_str()); } ~Loud() { std::printf("-%s\n", n.c_str()); } };
static Loud global("global");
thread_local Loud early("thread-local one, with a long name");
thread_local Loud never("never used");
static int *counter() { thread_local int n = 3; return &n; }

int main() {
    std::puts("main");
    std::printf("%zu\n", early.n.size());
    *counter() += 4;
    std::printf("%d\n", *counter());
}
