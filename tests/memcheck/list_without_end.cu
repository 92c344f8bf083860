// A list is walked past its end, through zeros that stand for what cannot be read: a GPU would stop the kernel.
#include "memcheck.h"

struct Node {
    int value;
    Node *next;
};

__global__ void find(const Node *node, int value, int *found) {
    while (node->value != value) //~ ERROR null-pointer
        node = node->next; //~ ERROR null-pointer
    *found = 1;
}

int main() {
    Node *nodes = device<Node>(2);
    Node list[2] = {{1, nodes + 1}, {2, nullptr}};
    OK(cudaMemcpy(nodes, list, sizeof list, cudaMemcpyHostToDevice));
    find<<<1, 1>>>(nodes, WRONG_OR_RIGHT(3, 2), device<int>(1));
    return finish();
}
