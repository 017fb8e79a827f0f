// A thread sleeps until a value changes. BROKEN is not told. RELEASE is told too early: GCC's library looks
// whether somebody waits with a load that may come before the store, unless both are sequentially consistent.
#include <atomic>
#include <cassert>
#include <thread>

#ifdef RELEASE
constexpr auto order = std::memory_order_release;
#else
constexpr auto order = std::memory_order_seq_cst;
#endif

std::atomic<int> ready{0};
int data;

int main() {
    std::thread waiter([] {
        ready.wait(0, std::memory_order_acquire);
        assert(data == 1);
    });
    data = 1;
    ready.store(1, order);
#ifndef BROKEN
    ready.notify_one();
#endif
    waiter.join();
}
