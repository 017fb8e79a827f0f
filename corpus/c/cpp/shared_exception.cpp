// An exception of the library that one thread makes and another one looks at, copies and destroys.
#include <cassert>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

std::runtime_error *made;
std::logic_error *other;

int main() {
    std::thread thread([] {
        made = new std::runtime_error(std::string("one"));
        other = new std::out_of_range("two");
    });
    thread.join();
    std::runtime_error copy = *made;
    delete made;
    assert(std::strcmp(copy.what(), "one") == 0 && std::strcmp(other->what(), "two") == 0);
    assert(dynamic_cast<std::out_of_range *>(other));
    try {
        throw copy;
    } catch (const std::exception &caught) {
        assert(std::strcmp(caught.what(), "one") == 0);
    }
    delete other;
}
