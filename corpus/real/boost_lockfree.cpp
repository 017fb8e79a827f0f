// Boost.Lockfree. -DCLIENT chooses a container, -DBROKEN a wrong expectation.
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <boost/lockfree/stack.hpp>
#include <cassert>
#include <thread>

enum { SPSC, STACK, QUEUE };

int main() {
#if CLIENT == 0
    boost::lockfree::spsc_queue<int, boost::lockfree::capacity<2>> container;
#elif CLIENT == 1
    boost::lockfree::stack<int, boost::lockfree::capacity<2>> container;
#else
    boost::lockfree::queue<int, boost::lockfree::capacity<2>> container;
#endif
    std::thread other([&] { assert(container.push(1)); });
    int value = 0;
    bool is_there = container.pop(value);
#ifdef BROKEN
    assert(is_there);
#endif
    assert(!is_there || value == 1);
    other.join();
    assert(is_there || (container.pop(value) && value == 1));
}
