// Two threads print to std::cout.
#include <atomic>
#include <cassert>
#include <iostream>
#include <thread>

std::atomic<int> x;
int main() {
    std::thread t([]{ int v=x.load(); std::cout << "v=" << v << std::endl; });
    x.store(1);
    std::cout << "main\n";
    t.join();
}
