// Mutexes and their guards. BROKEN uses none.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex mutex;
int counter;

void add() {
#ifndef BROKEN
    std::lock_guard<std::mutex> guard(mutex);
#endif
    counter++;
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
    assert(counter == 2);
}
