// Containers of oneTBB. -DCLIENT chooses one, -DBROKEN a wrong expectation.
#include <cassert>
#include <tbb/concurrent_queue.h>
#include <tbb/concurrent_vector.h>
#include <tbb/spin_mutex.h>
#include <thread>

int main() {
#if CLIENT == 0
    tbb::spin_mutex mutex;
    int count = 0;
    auto add = [&] {
#ifndef BROKEN
        tbb::spin_mutex::scoped_lock guard(mutex);
#endif
        int old = count;
        count = old + 1;
    };
    std::thread other(add);
    add();
    other.join();
    assert(count == 2);
#elif CLIENT == 1
    tbb::concurrent_queue<int> queue;
    std::thread other([&] { queue.push(1); });
    int value = 0;
    bool is_there = queue.try_pop(value);
#ifdef BROKEN
    assert(is_there);
#endif
    other.join();
    assert(!is_there || value == 1);
#else
    tbb::concurrent_vector<int> vector;
    std::thread other([&] { vector.push_back(1); });
    vector.push_back(2);
    other.join();
#ifdef BROKEN
    assert(vector[0] == 2);
#endif
    assert(vector.size() == 2 && vector[0] + vector[1] == 3);
#endif
}
