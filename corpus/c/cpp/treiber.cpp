// Treiber's stack with weak compare-exchanges. Nodes are freed at the end. BROKEN publishes nodes without a release.
#include <atomic>
#include <cassert>
#include <thread>

#ifdef BROKEN
constexpr auto release = std::memory_order_relaxed;
#else
constexpr auto release = std::memory_order_release;
#endif
constexpr auto acquire = std::memory_order_acquire;
constexpr auto relaxed = std::memory_order_relaxed;

template <class T> class Stack {
    struct Node {
        T value;
        Node *next;
    };

    std::atomic<Node *> top{nullptr};

  public:
    using Popped = Node *;

    void push(T value) {
        Node *node = new Node{value, top.load(relaxed)};
        while (!top.compare_exchange_weak(node->next, node, release, relaxed)) {
        }
    }

    Popped pop() {
        Node *node = top.load(acquire);
        while (node && !top.compare_exchange_weak(node, node->next, acquire, acquire)) {
        }
        return node;
    }
};

int main() {
    Stack<int> stack;
    int sum = 0;
    auto use = [&sum](auto popped) {
        if (popped)
            sum += popped->value;
        delete popped;
        return popped != nullptr;
    };
    std::thread pusher([&] { stack.push(1); });
    Stack<int>::Popped popped = nullptr;
    std::thread popper([&] { popped = stack.pop(); });
    stack.push(2);
    pusher.join();
    popper.join();
    use(popped);
    while (use(stack.pop())) {
    }
    assert(sum == 3);
}
