// Virtual calls through pointers that threads pass to each other.
#include <atomic>
#include <cassert>
#include <thread>

struct Shape {
    virtual ~Shape() = default;
    virtual int area() const = 0;
};

struct Square : Shape {
    int side;
    explicit Square(int side) : side(side) {}
    int area() const override { return side * side; }
};

std::atomic<Shape *> shape{nullptr};

int main() {
    std::thread maker([] { shape.store(new Square(3), std::memory_order_release); });
    std::thread user([] {
        if (Shape *seen = shape.load(std::memory_order_acquire))
            assert(seen->area() == 9);
    });
    maker.join();
    user.join();
    delete shape.load();
}
