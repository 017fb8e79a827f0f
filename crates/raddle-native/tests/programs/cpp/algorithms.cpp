// The algorithms and numeric headers on vectors.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

int main() {
    std::vector<int> v(100);
    std::iota(v.begin(), v.end(), -50);
    for (auto &x : v) x = x * x % 37 - x;
    std::stable_sort(v.begin(), v.end(), [](int a, int b) { return a % 10 < b % 10; });
    std::printf("%d %d\n", v.front(), v.back());
    std::sort(v.begin(), v.end());
    v.erase(std::unique(v.begin(), v.end()), v.end());
    auto p = std::partition(v.begin(), v.end(), [](int x) { return x % 2 == 0; });
    std::nth_element(v.begin(), v.begin() + 5, p);
    std::make_heap(v.begin(), v.end());
    std::pop_heap(v.begin(), v.end());
    std::printf("%zu %d %d %td\n", v.size(), v.back(), std::accumulate(v.begin(), v.end(), 7), p - v.begin());
    std::sort_heap(v.begin(), v.end() - 1);
    std::rotate(v.begin(), v.begin() + 3, v.end());
    std::reverse(v.begin(), v.begin() + 10);
    long h = 0;
    for (int x : v) h = h * 131 + x;
    int steps = 0;
    std::vector<int> q{1, 2, 3, 4};
    while (std::next_permutation(q.begin(), q.end())) steps += q[0] * q[3];
    std::printf("%ld %d %d\n", h, steps, (int)std::count_if(v.begin(), v.end(), [](int x) { return x > 0; }));
}
