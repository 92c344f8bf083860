// Which object is undefined: seen through other parameters, through pointers in memory, and after another launch.
#include "memcheck.h"

// Reads one parameter and writes the other, which may be the same memory.
__global__ void shift(const int *from, int *to, int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x ^ 1];
    __threadfence_block();
    __syncthreads();
    if (from[threadIdx.x] == 7) atomicAdd(out, 1); //~ ERROR undefined-branch
}

// Only reads, of something of which the end is undefined.
__global__ void ends(const int *in, int n, int *states, int *out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[threadIdx.x]);
    states[threadIdx.x] = sum;
    __syncthreads();
    if (states[threadIdx.x ^ 1] < n) out[threadIdx.x] = 1; //~ ERROR undefined-branch
}

struct Node {
    int *values;
    Node *next;
};

// Nothing that is written or read here is what a parameter points to.
__global__ void list(const Node *node, int *out) {
    __shared__ int last[32];
    int sum = 0;
    for (; node; node = node->next) {
        sum += node->values[threadIdx.x];
        node->values[threadIdx.x] = sum;
    }
    last[threadIdx.x] = sum;
    __syncthreads();
    if (last[threadIdx.x ^ 16] > 3) out[threadIdx.x] = 1; //~ ERROR undefined-branch
}

// Atomics on what the launch reads, too.
__global__ void counts(unsigned *counters, const unsigned *in, int *out) {
    __shared__ unsigned old[32];
    old[threadIdx.x] = atomicAdd(&counters[in[threadIdx.x] & 31], 1);
    __syncthreads();
    if (old[31 - threadIdx.x] > 4) out[threadIdx.x] = 1; //~ ERROR undefined-branch
    __syncthreads();
    if (atomicOr(&counters[threadIdx.x], 0) > 4) out[threadIdx.x] = 2; //~ ERROR undefined-branch
}

__global__ void uses(const int *in, int *out) {
    __shared__ int tile[32];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (tile[threadIdx.x ^ 1] > 3) out[threadIdx.x] = 1; //~ ERROR undefined-branch
}

__global__ void stores(const int *in, int *to) { to[threadIdx.x] = in[threadIdx.x] + 1; }

int main() {
    const int wrong = WRONG_OR_RIGHT(1, 0);
    int *out = device<int>(64);
    int *both = fresh<int>(64), *other = device<int>(64);
    OK(cudaMemset(both, 0, (64 - wrong) * 4));
    shift<<<1, 64>>>(other, other, out);
    shift<<<1, 64>>>(both, both, out);

    int *part = fresh<int>(4096), *states = device<int>(64);
    OK(cudaMemset(part, 0, 4096 * 4 - wrong));
    ends<<<1, 64>>>(part, 4, states, out);
    ends<<<1, 64>>>(part + 4096 - 64, 4, states, out);

    Node nodes[2] = {{device<int>(32), nullptr}, {fresh<int>(32), nullptr}};
    if (!wrong) OK(cudaMemset(nodes[1].values, 0, 32 * 4));
    Node *first = device<Node>(2);
    nodes[0].next = first + 1;
    OK(cudaMemcpy(first, nodes, sizeof(nodes), cudaMemcpyHostToDevice));
    list<<<1, 32>>>(first, out);

    unsigned *counters = fresh<unsigned>(32), *zeros = device<unsigned>(32);
    OK(cudaMemset(counters + wrong, 0, (32 - wrong) * 4));
    counts<<<1, 32>>>(counters, zeros, out);

    // It is defined, becomes undefined by a kernel and by a copy, and is defined again.
    int *again = device<int>(32), *nothing = fresh<int>(32);
    uses<<<1, 32>>>(again, out);
    if (wrong) stores<<<1, 32>>>(nothing, again);
    uses<<<1, 32>>>(again, out);
    OK(cudaMemset(again, 0, 32 * 4));
    uses<<<1, 32>>>(again, out);
    if (wrong) OK(cudaMemcpy(again + 16, nothing, 64, cudaMemcpyDeviceToDevice));
    uses<<<1, 32>>>(again, out);
    return finish();
}
