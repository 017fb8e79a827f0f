// The containers of the standard library under a mutex.
#include <cassert>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>

std::mutex mutex;
std::deque<int> queue;
std::map<int, std::string> names;

int main() {
    auto put = [](int value) {
        std::lock_guard<std::mutex> guard(mutex);
        queue.push_back(value);
        names[value] = "number " + std::to_string(value);
    };
    std::thread first(put, 1), second(put, 2);
    first.join();
    second.join();
    assert(queue.size() == 2 && queue[0] + queue[1] == 3);
    assert(names[2] == "number 2");
}
