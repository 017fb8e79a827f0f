// Store buffering. With SC it is sequentially consistent.
#include <atomic>
#include <cassert>
#include <thread>

#ifdef SC
constexpr auto loads = std::memory_order_seq_cst, stores = std::memory_order_seq_cst;
#else
constexpr auto loads = std::memory_order_acquire, stores = std::memory_order_release;
#endif

int main() {
    std::atomic<int> x{0}, y{0};
    int a = 0, b = 0;
    std::thread first([&] { x.store(1, stores), a = y.load(loads); });
    std::thread second([&] { y.store(1, stores), b = x.load(loads); });
    first.join();
    second.join();
    assert(a == 1 || b == 1);
}
