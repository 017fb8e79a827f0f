// A stack whose pop does not acquire what push has released.
#include <atomic>
#include <thread>
template <class T> struct Stack {
  struct Node { T value; Node *next; };
  std::atomic<Node *> head{nullptr};
  void push(T value) {
    Node *n = new Node{value, nullptr};
    Node *h = head.load(std::memory_order_relaxed);
    do n->next = h;
    while (!head.compare_exchange_strong(h, n, std::memory_order_release, std::memory_order_relaxed));
  }

  bool pop(T &out) {
    Node *h = head.load(std::memory_order_relaxed);
    while (h && !head.compare_exchange_strong(h, h->next, std::memory_order_relaxed)) {}
    if (!h) return false;
    out = h->value;
    return true;
  }
};
static Stack<int> s;
int main() {
  std::thread a([] { int x; s.push(1); s.pop(x); });
  std::thread b([] { int x; s.push(2); s.pop(x); });
  a.join();
  b.join();
}
