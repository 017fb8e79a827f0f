// A stack whose push and pop retry. A failed try leaves its result in the node that is not published yet.

#include <atomic>
#include <thread>

struct Node {
    int value;
    Node *next;
};

std::atomic<Node *> head{nullptr};

void push(int value) {
    Node *node = new Node{value, nullptr};
    node->next = head.load(std::memory_order_relaxed);
    while (!head.compare_exchange_weak(node->next, node, std::memory_order_release, std::memory_order_relaxed))
        ;
}

bool pop(int &value) {
    Node *node = head.load(std::memory_order_acquire);
    while (node && !head.compare_exchange_weak(node, node->next, std::memory_order_acquire, std::memory_order_acquire))
        ;
    if (!node)
        return false;
    value = node->value;
    return true;
}

int main() {
    std::thread first([] { push(1); int value; pop(value); });
    std::thread second([] { push(2); int value; pop(value); });
    first.join();
    second.join();
}
