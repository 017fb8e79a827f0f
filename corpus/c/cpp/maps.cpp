// Maps, lists and hash tables of one thread, compared with an array.
#include <algorithm>
#include <cassert>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

int main() {
    std::map<int, int> tree;
    std::unordered_map<int, int> table;
    std::list<int> list;
    std::vector<int> expected;
    unsigned number = 1;
    for (int step = 0; step < 400; step++) {
        number = number * 1103515245 + 12345;
        int key = number / 65536 % 64;
        auto at = std::find(expected.begin(), expected.end(), key);
        if (at == expected.end()) {
            expected.push_back(key);
            list.push_back(key);
            tree[key] = table[key] = step;
        } else if (step % 3) {
            expected.erase(at);
            list.remove(key);
            assert(tree.erase(key) == 1 && table.erase(key) == 1);
        }
        assert(tree.size() == expected.size() && table.size() == expected.size());
    }
    list.reverse();
    list.sort();
    std::sort(expected.begin(), expected.end());
    assert(std::equal(list.begin(), list.end(), expected.begin()));
    auto at = tree.begin();
    for (int key : expected) {
        assert(at->first == key && table.at(key) == at->second);
        ++at;
    }
    assert(at == tree.end() && (--at)->first == expected.back());
    std::string name = std::to_string(expected.size()) + " elements of a long name";
    assert(name.find("elements") != std::string::npos);
}
