// Streams are compiled without hooks, so what threads share in them would not be seen: they are refused.
#include <mutex>
#include <sstream>
#include <thread>

std::mutex mutex;

int main() {
    std::ostringstream out;
    std::thread other([&] {
        std::lock_guard<std::mutex> guard(mutex);
        out << 2;
    });
    other.join();
}
