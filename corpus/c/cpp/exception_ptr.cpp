// An exception is carried from one thread to another.
#include <exception>
#include <thread>

std::exception_ptr carried;

int main() {
    std::thread thread([] {
        try {
            throw 1;
        } catch (...) {
            carried = std::current_exception();
        }
    });
    thread.join();
}
