// The last owner destroys the object, and sees what all others did with it.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

std::atomic<int> destroyed{0};

struct Object {
    int uses[2] = {0, 0};
    ~Object() {
        assert(uses[0] == 1 && uses[1] == 1);
        destroyed++;
    }
};

int main() {
    auto object = std::make_shared<Object>();
    auto use = [](std::shared_ptr<Object> mine, int i) { mine->uses[i] = 1; };
    std::thread first(use, object, 0), second(use, object, 1);
    object.reset();
    first.join();
    second.join();
    assert(destroyed == 1);
}
