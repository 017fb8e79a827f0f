// map, set, multimap, multiset: insertion, lookup, erasure, merging.
#include <iostream>
#include <map>
#include <set>
#include <string>

int main() {
    std::map<int, std::string> m;
    for (int i = 0; i < 200; i++) m[i * 73 % 199] += std::to_string(i) + ",";
    for (auto it = m.begin(); it != m.end();) it = it->first % 3 ? m.erase(it) : std::next(it);
    long h = 0;
    for (auto &[k, v] : m) h = h * 31 + k * (long)v.size() + v[0];
    std::multimap<char, int> mm;
    for (int i = 0; i < 26; i++) mm.emplace("aeiou"[i % 5], i);
    auto [lo, hi] = mm.equal_range('i');
    for (; lo != hi; ++lo) std::cout << lo->second << ' ';
    std::set<std::string, std::greater<>> s{"b", "a", "c", "long string that is allocated", "a"};
    std::multiset<int> t{3, 1, 3, 2, 3};
    for (auto &x : s) std::cout << x << ' ';
    std::cout << t.count(3) << ' ' << *m.lower_bound(50)->second.begin() << ' ' << m.size() << ' ' << h << '\n';
    try { m.at(1000); } catch (const std::out_of_range &e) { std::cout << e.what() << '\n'; }
}
