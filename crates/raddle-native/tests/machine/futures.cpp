// A promise and its future.
#include <cassert>
#include <future>

int main() {
    std::promise<int> p;
    auto f = p.get_future();
    std::thread t([&]{ p.set_value(42); });
    assert(f.get() == 42);
    t.join();
}
