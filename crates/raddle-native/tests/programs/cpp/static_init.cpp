// Static constructors and destructors, function-local statics, a constructor that throws once.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

struct Static { const char *n; explicit Static(const char *n) : n(n) { std::printf("+%s\n", n); } ~Static() { std::printf("-%s\n", n); } };
static Static first("first"), second("second");
static int attempts;
struct Once { Once() { if (attempts++ == 0) throw std::runtime_error("first attempt"); std::puts("second attempt"); } };
static Static &local() { static Static s("local"); return s; }
static void use() { static Once once; }
static void handler() { std::puts("atexit"); }

int main() {
    std::atexit(handler);
    try { use(); } catch (const std::exception &e) { std::puts(e.what()); }
    use();
    local();
    local();
    std::puts("main");
    return 5;
}
