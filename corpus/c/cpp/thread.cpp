// Threads, and what they capture.
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

int main() {
    std::atomic<int> sum{0};
    std::vector<std::thread> threads;
    for (int i = 1; i <= 2; i++)
        threads.emplace_back([i, &sum] { sum.fetch_add(i, std::memory_order_relaxed); });
    for (auto &thread : threads)
        thread.join();
    assert(sum == 3);
}
