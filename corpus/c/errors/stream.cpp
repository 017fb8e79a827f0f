// Threads write to a string stream, whose code is in a library: its accesses are seen as well.
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
