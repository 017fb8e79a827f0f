// String streams in two threads.
#include <cassert>
#include <sstream>
#include <thread>

int main() {
    std::thread t([]{ std::ostringstream o; o<<1<<" "<<2.5; assert(o.str()=="1 2.5"); });
    std::ostringstream o;
    o<<"x";
    t.join();
    assert(o.str()=="x");
}
