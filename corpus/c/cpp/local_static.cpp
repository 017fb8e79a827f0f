// A static variable of a function is made once, by who comes first.
#include <cassert>
#include <thread>

int made;

struct Object {
    int value;
    Object() : value(7) { made++; }
};

Object &instance() {
    static Object object;
    return object;
}

int main() {
    auto use = [] { assert(instance().value == 7); };
    std::thread first(use), second(use);
    first.join();
    second.join();
    assert(made == 1);
}
