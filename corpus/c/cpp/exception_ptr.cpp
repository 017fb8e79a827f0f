// Exceptions that are carried from thread to thread are not modelled.
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
