// Two threads insert into a map.
#include <map>
#include <thread>

std::map<int, int> m;
int main() {
    std::thread t([]{ m[1] = 2; });
    m[2] = 3;
    t.join();
}
