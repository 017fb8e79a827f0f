// deque, list, forward_list, queue, stack and priority_queue.
#include <deque>
#include <forward_list>
#include <iostream>
#include <list>
#include <queue>
#include <stack>

int main() {
    std::deque<int> d;
    for (int i = 0; i < 300; i++) i % 3 ? d.push_back(i) : d.push_front(-i);
    std::list<int> l(d.begin() + 100, d.begin() + 120), m{5, 1, 4};
    m.sort();
    l.merge(m);
    l.remove_if([](int x) { return x % 2; });
    std::forward_list<int> f(l.begin(), l.end());
    f.reverse();
    std::priority_queue<int> p(d.begin(), d.end());
    std::stack<int> s;
    for (int i = 0; i < 10; i++) { s.push(p.top()); p.pop(); }
    for (int x : f) std::cout << x << ' ';
    while (!s.empty()) { std::cout << s.top() << ' '; s.pop(); }
    std::cout << d[150] << ' ' << d.size() << '\n';
}
