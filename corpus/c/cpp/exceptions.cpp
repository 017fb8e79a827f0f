// Exceptions in several threads at once, caught and thrown again.
#include <atomic>
#include <cassert>
#include <stdexcept>
#include <string>
#include <thread>

std::atomic<int> x{0};

int attempt(int number) {
    try {
        try {
            throw std::runtime_error(std::to_string(number));
        } catch (const std::exception &) {
            x.fetch_add(1);
            throw;
        }
    } catch (const std::runtime_error &error) {
        return std::stoi(error.what());
    }
}

int main() {
    std::thread first([] { assert(attempt(1) == 1); }), second([] { assert(attempt(2) == 2); });
    first.join();
    second.join();
    assert(x == 2);
}
