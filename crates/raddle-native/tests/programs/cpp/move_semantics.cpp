// Copies and moves are counted; copy elision; move-only types in containers.
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

struct Tracked {
    static inline int copies = 0, moves = 0, gone = 0;
    int v;
    explicit Tracked(int v) : v(v) {}
    Tracked(const Tracked &o) : v(o.v) { copies++; }
    Tracked(Tracked &&o) noexcept : v(std::exchange(o.v, -1)) { moves++; }
    Tracked &operator=(Tracked o) { std::swap(v, o.v); return *this; }
    ~Tracked() { gone++; }
};
static Tracked make(int v) { return Tracked(v); }

int main() {
    {
        std::vector<Tracked> v;
        for (int i = 0; i < 20; i++) v.push_back(make(i));
        Tracked t = v[3];
        t = std::move(v[4]);
        v.erase(v.begin() + 2, v.begin() + 6);
        std::cout << t.v << ' ' << v.size() << ' ' << v[2].v << '\n';
    }
    std::cout << Tracked::copies << ' ' << Tracked::moves << ' ' << Tracked::gone << '\n';
    std::vector<std::unique_ptr<int>> p;
    for (int i = 0; i < 10; i++) p.insert(p.begin(), std::make_unique<int>(i));
    std::cout << *p.front() << *p.back() << '\n';
}
