// std::sort, stable_sort and partial_sort of 20,000 records, compared with each other.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

struct Record { std::uint32_t key; std::string name; };

int main() {
    std::vector<Record> v;
    std::uint32_t s = 1;
    for (int i = 0; i < 20000; i++) { s = s * 1664525 + 1013904223; v.push_back({s >> 8, "n" + std::to_string(s % 1000)}); }
    auto w = v;
    std::sort(v.begin(), v.end(), [](auto &a, auto &b) { return a.key < b.key; });
    std::stable_sort(w.begin(), w.end(), [](auto &a, auto &b) { return a.name < b.name; });
    unsigned long h = 0;
    for (int i = 0; i < 20000; i += 97) h = h * 31 + v[i].key + w[i].key + w[i].name.size();
    std::partial_sort(w.begin(), w.begin() + 10, w.end(), [](auto &a, auto &b) { return a.key < b.key; });
    std::printf("%lu %d\n", h, w[9].key == v[9].key);
}
