// Two mutexes at once, in any order. BROKEN takes one after the other.
#include <mutex>
#include <thread>

std::mutex a, b;
int value;

int main() {
    auto both = [](std::mutex &one, std::mutex &two) {
#ifdef BROKEN
        std::lock_guard<std::mutex> first(one);
        std::lock_guard<std::mutex> second(two);
#else
        std::scoped_lock guard(one, two);
#endif
        value++;
    };
    std::thread first([&] { both(a, b); }), second([&] { both(b, a); });
    first.join();
    second.join();
}
