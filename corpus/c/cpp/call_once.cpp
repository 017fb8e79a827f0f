// Something is made once, by who comes first.
#include <cassert>
#include <mutex>
#include <thread>

std::once_flag once;
int made;

int main() {
    auto use = [] {
        std::call_once(once, [] { made++; });
        assert(made == 1);
    };
    std::thread first(use), second(use);
    first.join();
    second.join();
}
