#include "memcheck.h"

struct Node {
    int key[10];
    Node *next;
};

__global__ void walk(const Node *node, int *out) {
#ifdef FIXED
    if (node->next)
#endif
    *out = node->next->key[9]; //~ ERROR null-pointer
}

int main() {
    walk<<<1, 1>>>(device<Node>(1), device<int>(1));
    return finish();
}
