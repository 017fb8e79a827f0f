// A regular expression in a thread.
#include <cassert>
#include <regex>
#include <thread>

int main() {
    std::thread t([]{ assert(std::regex_match("abc",std::regex("a.c"))); });
    t.join();
}
