struct Node {
    Node *next;
    int value;
    void close();
};

int take(Node *n) {
    delete n;
    // ruleid: use-after-delete
    return n->value;
}

void end(Node *n, bool failed) {
    if (failed) {
        delete n;
    }
    // ruleid: use-after-delete
    n->close();
}

int first(int *numbers) {
    delete[] numbers;
    // ruleid: use-after-delete
    return numbers[0];
}
