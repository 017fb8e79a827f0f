// bitset, vector<bool> and bit manipulation.
#include <bitset>
#include <iostream>
#include <vector>

int main() {
    std::bitset<100> a("1011001110001111"), b;
    for (int i = 0; i < 100; i += 3) b.set(i);
    std::cout << (a ^ b) << '\n' << (a << 7 & b).count() << ' ' << a.to_ulong() << '\n';
    std::vector<bool> v(77, true);
    for (std::size_t i = 0; i < v.size(); i += 2) v[i].flip();
    int n = 0;
    for (bool x : v) n = n * 2 % 1000003 + x;
    std::cout << n << '\n';
    try { std::bitset<4> bad("01x1"); } catch (const std::invalid_argument &e) { std::cout << "refused\n"; }
}
