// Nodes that move between two lists. A list is followed by pointers, so an attempt that saw memory of two moments could meet
// a node of the other list, or follow a circle.
#include <warpgrind/transactional.cuh>

#include "stm.h"

constexpr int NODES = 12;

struct Node {
    Node *next;
    int list;
};

struct Lists {
    Node *head[2];
    int lost;
};

__global__ void move(Lists *lists, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        const int from = (threadIdx.x + round) % 2, to = 1 - from;
        int strangers;
#ifdef FIXED
        warpgrind::atomically([&](warpgrind::tx &t) {
            strangers = 0;
            Node *node = t.read(&lists->head[from]);
            if (node == nullptr) t.abort();
            for (Node *other = node; other != nullptr; other = t.read(&other->next)) {
                strangers += t.read(&other->list) != from;
            }
            t.write(&lists->head[from], t.read(&node->next));
            t.write(&node->next, t.read(&lists->head[to]));
            t.write(&node->list, to);
            t.write(&lists->head[to], node);
        });
#else
        {
            warpgrind::transaction_scope transaction;
            strangers = 0;
            if (Node *node = lists->head[from]) {
                int length = 0;
                for (Node *other = node; other != nullptr; other = other->next) {
                    strangers += other->list != from;
                    // Only without transactions.
                    if (++length > NODES) {
                        ++strangers;
                        break;
                    }
                }
                lists->head[from] = node->next;
                node->next = lists->head[to];
                node->list = to;
                lists->head[to] = node;
            }
        }
#endif
        if (strangers != 0) atomicAdd(&lists->lost, 1);
    }
}

int main() {
    Lists *lists = managed<Lists>(1);
    Node *nodes = managed<Node>(NODES);
    for (int i = 0; i < NODES; ++i) {
        nodes[i] = {lists->head[i % 2], i % 2};
        lists->head[i % 2] = &nodes[i];
    }
    move<<<2, 32>>>(lists, 20);
    OK(cudaDeviceSynchronize());
    int count = 0, is_wrong = 0;
    for (int list = 0; list < 2; ++list) {
        for (Node *node = lists->head[list]; node != nullptr && count <= NODES; node = node->next) {
            ++count;
            is_wrong |= check(node->list == list, "a node is in the other list");
        }
    }
    is_wrong |= check(count == NODES, "how many nodes there are");
    return is_wrong | check(lists->lost == 0, "a node of the other list was met");
}
