// Objects of C++ have static initialisers, and the slots of local ones are used again.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

static int meet(int round) {
    std::mutex mutex;
    std::condition_variable condition;
    std::shared_mutex shared;
    bool is_ready = false;
    std::thread thread([&] {
        { std::shared_lock<std::shared_mutex> guard(shared); }
        std::lock_guard<std::mutex> guard(mutex);
        is_ready = true;
        condition.notify_one();
    });
    { std::lock_guard<std::shared_mutex> guard(shared); }
    std::unique_lock<std::mutex> guard(mutex);
    condition.wait(guard, [&] { return is_ready; });
    guard.unlock();
    thread.join();
    return round;
}

int main() {
    assert(meet(1) + meet(2) == 3);
}
