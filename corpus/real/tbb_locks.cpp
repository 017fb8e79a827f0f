// Locks and containers of oneTBB. -DCLIENT chooses one, -DBROKEN a wrong use.
#include <cassert>
#include <thread>

#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_priority_queue.h>
#include <tbb/concurrent_unordered_map.h>
#include <tbb/queuing_mutex.h>
#include <tbb/queuing_rw_mutex.h>
#include <tbb/spin_rw_mutex.h>

template <typename Mutex> static void count() {
    Mutex mutex;
    int count = 0;
    auto add = [&] {
#ifndef BROKEN
        typename Mutex::scoped_lock guard(mutex);
#endif
        int old = count;
        count = old + 1;
    };
    std::thread other(add);
    add();
    other.join();
    assert(count == 2);
}

int main() {
#if CLIENT == 0
    count<tbb::spin_rw_mutex>();
#elif CLIENT == 1
    count<tbb::queuing_mutex>();
#elif CLIENT == 2
    count<tbb::queuing_rw_mutex>();
#elif CLIENT == 3
    tbb::concurrent_hash_map<int, int> map;
    std::thread other([&] { map.insert({1, 1}); });
    bool is_there = map.count(1);
    other.join();
    assert(map.count(1));
#elif CLIENT == 4
    tbb::concurrent_priority_queue<int> queue;
    std::thread other([&] { queue.push(1); });
    int value = 0;
    bool is_there = queue.try_pop(value);
    other.join();
    assert(!is_there || value == 1);
#else
    tbb::concurrent_unordered_map<int, int> map;
    std::thread other([&] { map.insert({1, 1}); });
    bool is_there = map.count(1);
    other.join();
    assert(map.count(1));
#endif
#if defined(BROKEN) && CLIENT >= 3
    assert(is_there);
#endif
}
