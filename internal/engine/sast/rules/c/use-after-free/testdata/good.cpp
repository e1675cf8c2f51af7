#include <memory>

struct Node {
    Node *next;
    int value;
    void close();
};

int take(Node *n) {
    int value = n->value;
    delete n;
    n = nullptr;
    return value;
}

void end(Node *n, bool failed) {
    if (failed) {
        delete n;
        return;
    }
    n->close();
}

class Holder {
    Node *node;

public:
    ~Holder() { delete node; }
    int value() { return node->value; }
    void reset(Node *other) {
        delete node;
        node = other;
        node->close();
    }
};

int owned() {
    auto n = std::make_unique<Node>();
    return n->value;
}
