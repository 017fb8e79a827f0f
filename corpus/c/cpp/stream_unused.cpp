// That <iostream> is included does not matter: what makes streams ready does nothing.
#include <atomic>
#include <iostream>
#include <thread>

std::atomic<int> flag;

int main() {
    std::thread writer([] { flag = 1; });
    int seen = flag;
    writer.join();
    return seen > 1;
}
