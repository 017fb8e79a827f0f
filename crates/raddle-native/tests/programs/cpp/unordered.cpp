// unordered_map and unordered_set with strings, integers and a custom hash.
#include <iostream>
#include <string>
#include <unordered_map>
#include <unordered_set>

struct Key { int a, b; bool operator==(const Key &o) const { return a == o.a && b == o.b; } };
struct Hash { std::size_t operator()(const Key &k) const { return k.a * 31u + k.b; } };

int main() {
    std::unordered_map<std::string, int> words;
    for (int i = 0; i < 1000; i++) words["w" + std::to_string(i * i % 317)] += i;
    long h = 0;
    for (auto &[k, v] : words) h = (h * 7 + k.size() * v) % 1000000007;
    std::unordered_set<Key, Hash> keys;
    for (int i = 0; i < 500; i++) keys.insert({i % 20, i % 30});
    std::unordered_multimap<int, int> m;
    for (int i = 0; i < 100; i++) m.emplace(i % 7, i);
    words.erase("w1");
    std::cout << words.size() << ' ' << h << ' ' << keys.size() << ' ' << m.count(3) << ' ' << words.count("w1") << words.count("w4") << ' ' << words.bucket_count() << '\n';
    for (auto &k : keys) h = (h * 13 + k.a - k.b) % 1000000007;
    std::cout << h << ' ' << std::hash<std::string>{}("hash of a text") << ' ' << std::hash<double>{}(2.5) << '\n';
}
