// A mutex that its owner may lock again.
#include <cassert>
#include <mutex>
#include <thread>

std::recursive_mutex mutex;
int counter;

void add(int times) {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    if (times > 1)
        add(times - 1);
    counter++;
}

int main() {
    std::thread first(add, 2), second(add, 1);
    first.join();
    second.join();
    assert(counter == 3);
}
