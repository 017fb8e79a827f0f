// Peterson's algorithm. With SC it is sequentially consistent.
#include <atomic>
#include <cassert>
#include <thread>

#ifdef SC
constexpr auto loads = std::memory_order_seq_cst, stores = std::memory_order_seq_cst;
#else
constexpr auto loads = std::memory_order_acquire, stores = std::memory_order_release;
#endif

std::atomic<bool> interested[2];
std::atomic<int> turn;
int inside;

void run(int i) {
    interested[i].store(true, stores);
    turn.store(1 - i, stores);
    while (interested[1 - i].load(loads) && turn.load(loads) != i) {
    }
    inside = i;
    assert(inside == i);
    interested[i].store(false, stores);
}

int main() {
    std::thread first(run, 0), second(run, 1);
    first.join();
    second.join();
}
