// Double-checked locking. BROKEN publishes the object without a release.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#ifdef BROKEN
constexpr auto release = std::memory_order_relaxed;
#else
constexpr auto release = std::memory_order_release;
#endif

struct Object {
    int value = 42;
};

std::atomic<Object *> object{nullptr};
std::mutex mutex;

Object &instance() {
    Object *found = object.load(std::memory_order_acquire);
    if (!found) {
        std::lock_guard<std::mutex> guard(mutex);
        found = object.load(std::memory_order_relaxed);
        if (!found) {
            found = new Object;
            object.store(found, release);
        }
    }
    return *found;
}

int main() {
    std::thread other([] { assert(instance().value == 42); });
    assert(instance().value == 42);
    other.join();
    delete object.load();
}
