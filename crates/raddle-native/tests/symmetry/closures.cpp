// N threads that run a closure, which the library copies to a block of memory for each of them.
#include <atomic>
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#ifndef N
#define N 3
#endif

struct Counter {
    std::mutex lock;
    int plain = 0;
};

static void increment(std::atomic<int> &value) {
    int before = value.load();
    value.store(before + 1);
}

int main() {
#if defined(ARRAY)
    // The handles are in an array, and a function with arguments runs.
    std::atomic<int> x{0};
    std::thread all[N];
    for (auto &thread : all)
        thread = std::thread(increment, std::ref(x));
    for (auto &thread : all)
        thread.join();
#elif defined(JTHREAD)
    std::atomic<int> x{0};
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < N; i++)
            all.emplace_back([&x] { increment(x); });
    }
#elif defined(SHARED)
    // Each closure is an owner of the counter.
    auto counter = std::make_shared<std::atomic<int>>(0);
    std::vector<std::thread> all;
    for (int i = 0; i < N; i++)
        all.emplace_back([counter] { increment(*counter); });
    for (auto &thread : all)
        thread.join();
#elif defined(LOCK)
    auto counter = std::make_unique<Counter>();
    std::vector<std::thread> all;
    for (int i = 0; i < N; i++)
        all.emplace_back([&counter] {
            std::lock_guard<std::mutex> guard(counter->lock);
            counter->plain++;
        });
    for (auto &thread : all)
        thread.join();
    assert(counter->plain == N);
#elif defined(INDEX)
    // The index decides.
    std::atomic<int> x{0};
    std::vector<std::thread> all;
    for (int i = 0; i < N; i++)
        all.emplace_back([&x, i] {
            int before = x.fetch_add(1);
            assert(!(before == 0 && i == N - 1));
        });
    for (auto &thread : all)
        thread.join();
#elif defined(OWN)
    // Each thread has got a block of its own through its closure.
    std::atomic<int> x{0};
    std::vector<std::thread> all;
    for (int i = 0; i < N; i++) {
        auto own = std::make_unique<int>(1);
        all.emplace_back([&x, own = std::move(own)] { x.store(x.load() + *own); });
    }
    for (auto &thread : all)
        thread.join();
#elif defined(ROLES)
    // Two kinds of closures of the same size.
    std::atomic<int> x{0};
    std::vector<std::thread> all;
    for (int i = 0; i < N; i++)
        all.emplace_back([&x] { increment(x); });
    for (int i = 0; i < 2; i++)
        all.emplace_back([&x] { x.load(); });
    for (auto &thread : all)
        thread.join();
#else
    std::atomic<int> x{0};
    std::vector<std::thread> all;
    for (int i = 0; i < N; i++)
        all.emplace_back([&x] { increment(x); });
    for (auto &thread : all)
        thread.join();
#endif
}
