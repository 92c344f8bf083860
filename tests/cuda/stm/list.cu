// Nodes that move between lists: a transaction that follows pointers never meets one that is elsewhere meanwhile.
//@ variants: static G clang

#include "../expect.h"
#include <warpgrind/tx.cuh>

struct Node {
    Node *next;
    /// The list that the node is in.
    int list;
};

struct Lists {
    Node *head[2];
    int lost;
};

/// Takes the first node of a list, if there is one, and puts it into the other. Only nodes of the list may be met.
__global__ void move(Lists *lists, int rounds) {
    for (int round = 0; round < rounds; round++) {
        const int from = (threadIdx.x + round) % 2, to = 1 - from;
        warpgrind::atomically([&](warpgrind::tx &t) {
            Node *node = t.read(&lists->head[from]);
            if (node == nullptr) t.abort();
            if (t.read(&node->list) != from) atomicAdd(&lists->lost, 1);
            // With a wrong pointer this would fault, and around a loop it would not end.
            int length = 0;
            for (Node *other = node; other != nullptr; other = t.read(&other->next)) {
                if (t.read(&other->list) != from) atomicAdd(&lists->lost, 1);
                if (++length > 1000) {
                    atomicAdd(&lists->lost, 1);
                    break;
                }
            }
            t.write(&lists->head[from], t.read(&node->next));
            t.write(&node->next, t.read(&lists->head[to]));
            t.write(&node->list, to);
            t.write(&lists->head[to], node);
        });
    }
}

int main() {
    const int nodes = 8;
    Lists *lists;
    Node *node;
    OK(cudaMallocManaged(&lists, sizeof *lists));
    OK(cudaMallocManaged(&node, nodes * sizeof *node));
    *lists = {};
    for (int i = 0; i < nodes; i++) {
        node[i] = {lists->head[i % 2], i % 2};
        lists->head[i % 2] = &node[i];
    }
    move<<<2, 16>>>(lists, 3);
    OK(cudaDeviceSynchronize());
    CHECK(lists->lost == 0);
    int found = 0;
    for (int list = 0; list < 2; list++) {
        for (Node *other = lists->head[list]; other != nullptr; other = other->next) {
            CHECK(other->list == list);
            if (++found > nodes) break;
        }
    }
    CHECK(found == nodes);
    return done();
}
