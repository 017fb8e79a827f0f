// An object goes from one thread to another. BROKEN does not say so with a release.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

#ifdef BROKEN
constexpr auto release = std::memory_order_relaxed;
#else
constexpr auto release = std::memory_order_release;
#endif

std::atomic<int *> inbox{nullptr};

int main() {
    std::thread sender([] {
        auto object = std::make_unique<int>(5);
        inbox.store(object.release(), release);
    });
    std::thread receiver([] {
        std::unique_ptr<int> object(inbox.exchange(nullptr, std::memory_order_acquire));
        assert(!object || *object == 5);
    });
    sender.join();
    receiver.join();
    delete inbox.load();
}
