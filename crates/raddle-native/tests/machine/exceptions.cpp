// Exceptions in two threads.
#include <cassert>
#include <stdexcept>
#include <string>
#include <thread>

int main() {
    std::thread t([]{ try { throw std::runtime_error("x"); } catch(std::exception&e){ assert(std::string(e.what())=="x"); } });
    try {
        throw 1;
    }
    catch(int i) {
        assert(i == 1);
    }
    t.join();
}
