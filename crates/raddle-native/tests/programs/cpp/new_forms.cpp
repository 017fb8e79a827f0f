// Placement new, aligned new, nothrow new, arrays with destructors.
#include <cstdint>
#include <cstdio>
#include <new>

struct Loud { int n; Loud() : n(next++) { std::printf("+%d ", n); } ~Loud() { std::printf("-%d ", n); } static int next; };
int Loud::next = 0;
struct alignas(128) Wide { char c[200]; };

int main() {
    alignas(Loud) char room[sizeof(Loud)];
    Loud *l = new (room) Loud;
    l->~Loud();
    Loud *many = new Loud[4];
    delete[] many;
    Wide *w = new Wide;
    std::printf("%d ", (int)(reinterpret_cast<std::uintptr_t>(w) % 128));
    delete w;
    void *volatile none = ::operator new(static_cast<std::size_t>(1) << 62, std::nothrow);
    std::printf("%d\n", none == nullptr);
}
