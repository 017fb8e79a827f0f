// Readers share a mutex, a writer does not.
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int first, second;

int main() {
    auto read = [] {
        std::shared_lock<std::shared_mutex> guard(mutex);
        assert(first == second);
    };
    std::thread reader(read);
    std::thread writer([] {
        std::unique_lock<std::shared_mutex> guard(mutex);
        first++;
        second++;
    });
    reader.join();
    writer.join();
}
