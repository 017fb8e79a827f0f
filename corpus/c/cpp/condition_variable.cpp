// A consumer waits for a producer. BROKEN is notified before the state changes, without the mutex.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable condition;
int value;

int main() {
    std::thread consumer([] {
        std::unique_lock<std::mutex> guard(mutex);
        condition.wait(guard, [] { return value != 0; });
        assert(value == 42);
    });
#ifdef BROKEN
    condition.notify_one();
#endif
    {
        std::lock_guard<std::mutex> guard(mutex);
        value = 42;
    }
#ifndef BROKEN
    condition.notify_one();
#endif
    consumer.join();
}
