// One variable for values of different sizes.
#include <any>
#include <cassert>
#include <thread>

std::any value;

int main() {
    std::thread thread([] {
        value = 3;
        value = 5L;
    });
    thread.join();
    assert(std::any_cast<long>(value) == 5);
}
