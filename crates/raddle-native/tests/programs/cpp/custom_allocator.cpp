// An allocator with a counter; operator new and delete replaced.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <new>
#include <vector>

static int made, gone;
void *operator new(std::size_t n) { made++; return std::malloc(n); }
void operator delete(void *p) noexcept { gone++; std::free(p); }
void operator delete(void *p, std::size_t) noexcept { gone++; std::free(p); }

template <class T> struct Counting {
    using value_type = T;
    static inline int live = 0;
    Counting() = default;
    template <class U> Counting(const Counting<U> &) {}
    T *allocate(std::size_t n) { live += (int)n; return (T *)std::malloc(n * sizeof(T)); }
    void deallocate(T *p, std::size_t n) { live -= (int)n; std::free(p); }
    bool operator==(const Counting &) const { return true; }
};

int main() {
    {
        std::vector<int, Counting<int>> v;
        for (int i = 0; i < 100; i++) v.push_back(i);
        std::list<long> l(20, 5);
        std::printf("%d %d\n", Counting<int>::live, made);
    }
    std::printf("%d %d\n", Counting<int>::live, made - gone);
    return made;
}
