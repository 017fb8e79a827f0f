// Durations; two readings of the steady clock are in order.
#include <chrono>
#include <iostream>

int main() {
    using namespace std::chrono;
    using days = duration<int, std::ratio<86400>>;
    auto d = hours(2) + minutes(30) + 15s;
    std::cout << duration_cast<seconds>(d).count() << ' ' << duration<double, std::ratio<3600>>(d).count() << '\n';
    auto a = steady_clock::now(), b = steady_clock::now();
    std::cout << (a <= b) << ' ' << (system_clock::now() > system_clock::time_point{}) << '\n';
    std::cout << floor<days>(49h).count() << '\n';
}
