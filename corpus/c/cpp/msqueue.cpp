// The queue of Michael and Scott with weak compare-exchanges. Nodes are not freed. BROKEN links nodes without a release.
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

template <class T> class Queue {
    struct Node {
        T value{};
        std::atomic<Node *> next{nullptr};
    };

    std::atomic<Node *> head{new Node}, tail{head.load()};

  public:
    void push(T value) {
        Node *node = new Node{value};
        for (;;) {
            Node *last = tail.load(acquire);
            Node *next = last->next.load(acquire);
            if (next) {
                tail.compare_exchange_weak(last, next, release, relaxed);
            } else if (last->next.compare_exchange_weak(next, node, release, relaxed)) {
                tail.compare_exchange_strong(last, node, release, relaxed);
                return;
            }
        }
    }

    bool pop(T &value) {
        for (;;) {
            Node *first = head.load(acquire);
            Node *next = first->next.load(acquire);
            if (!next)
                return false;
            if (head.compare_exchange_weak(first, next, release, relaxed)) {
                value = next->value;
                return true;
            }
        }
    }
};

int main() {
    Queue<int> queue;
    int first = 0, second = 0, sum = 0;
    std::thread producer([&] { queue.push(1); });
    std::thread consumer([&] { queue.pop(first); });
    queue.push(2);
    queue.pop(second);
    producer.join();
    consumer.join();
    for (int value; queue.pop(value);)
        sum += value;
    assert(sum + first + second == 3);
}
