// An exception through 200 frames with destructors, and exception_ptr across functions.
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>

static int alive;
struct Counted { Counted() { alive++; } ~Counted() { alive--; } };

static void descend(int n) {
    Counted c;
    auto p = std::make_unique<Counted>();
    if (n == 0) throw std::overflow_error("bottom");
    descend(n - 1);
}

int main() {
    std::exception_ptr kept;
    for (int i = 0; i < 3; i++) {
        try { descend(200); } catch (...) { kept = std::current_exception(); }
        std::printf("%d %d\n", alive, std::uncaught_exceptions());
    }
    try { std::rethrow_exception(kept); } catch (const std::overflow_error &e) { std::printf("%s\n", e.what()); }
}
