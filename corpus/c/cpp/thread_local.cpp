// Objects of which every thread has its own, made when they are first used and gone with the thread.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> alive{0}, made{0};

struct Object {
    int value = 1;
    Object() { alive++, made++; }
    ~Object() { alive--; }
};

thread_local Object object;

int main() {
    auto use = [] {
        object.value++;
        assert(object.value == 2);
    };
    std::thread first(use), second(use);
    first.join();
    second.join();
    assert(made == 2 && alive == 0);
}
