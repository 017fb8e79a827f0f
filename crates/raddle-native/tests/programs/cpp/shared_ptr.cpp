// shared_ptr, weak_ptr, custom deleters, enable_shared_from_this, cycles broken by weak pointers.
#include <iostream>
#include <memory>
#include <vector>

struct Node : std::enable_shared_from_this<Node> {
    int id;
    std::vector<std::shared_ptr<Node>> children;
    std::weak_ptr<Node> parent;
    explicit Node(int id) : id(id) {}
    ~Node() { std::cout << '~' << id << ' '; }
    void add(std::shared_ptr<Node> c) { c->parent = shared_from_this(); children.push_back(std::move(c)); }
};

int main() {
    std::weak_ptr<Node> watch;
    {
        auto root = std::make_shared<Node>(1);
        root->add(std::make_shared<Node>(2));
        root->children[0]->add(std::make_shared<Node>(3));
        watch = root->children[0]->children[0];
        std::cout << watch.lock()->parent.lock()->parent.lock()->id << ' ' << root.use_count() << '\n';
        std::shared_ptr<int> part(root, &root->id);
        std::cout << *part << ' ' << root.use_count() << '\n';
    }
    std::cout << watch.expired() << '\n';
    std::shared_ptr<int> custom(new int(5), [](int *p) { std::cout << "deleted " << *p << '\n'; delete p; });
    std::shared_ptr<void> erased = custom;
    custom.reset();
}
