// A thread uses a node that another thread has deleted.
#include <atomic>
#include <thread>

struct Node {
  int key = 4;
};
static std::atomic<Node *> current{new Node};

static void use() {
  Node *node = current.load();
  if (node) node->key++;
}

int main() {
  std::thread user(use);
  delete current.exchange(nullptr);
  user.join();
}
