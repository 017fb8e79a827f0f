// What is to be done once throws an exception: then it is not done, and the next one tries.
#include <cassert>
#include <mutex>
#include <thread>

std::once_flag once;
int tried, made;

int main() {
    auto use = [](bool fails) {
        try {
            std::call_once(once, [fails] {
                tried++;
                if (fails)
                    throw 7;
                made++;
            });
        } catch (int thrown) {
            assert(fails && thrown == 7);
        }
    };
    std::thread first(use, true), second(use, false);
    first.join();
    second.join();
    assert(made == 1 && (tried == 1 || tried == 2));
}
