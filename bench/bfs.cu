#include "bench.h"

// One launch for each level: threads of nodes on it give the next level to neighbours that have none.
#if defined(__CUDACC__)

__global__ void visit(const int *starts, const int *neighbours, int *levels, int n, int level) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || levels[node] != level)
        return;
    for (int i = starts[node]; i < starts[node + 1]; i++)
        if (levels[neighbours[i]] < 0)
            levels[neighbours[i]] = level + 1;
}

#elif !defined(OPENCL)

static void visit(Block block, const int *starts, const int *neighbours, int *levels, int n, int level) {
    for (int node = block.x * 256; node < std::min(block.x * 256 + 256, n); node++)
        if (levels[node] == level)
            for (int i = starts[node]; i < starts[node + 1]; i++)
                if (levels[neighbours[i]] < 0)
                    levels[neighbours[i]] = level + 1;
}

#endif

int main() {
    const int n = 1 << 17;
    std::vector<int> starts(1), neighbours;
    for (int node = 0; node < n; node++) {
        int count = 1 + int(7 * number(node));
        for (int i = 0; i < count; i++)
            neighbours.push_back(int(number(node * 17 + i + n) * (n - 1)));
        starts.push_back(int(neighbours.size()));
    }
    std::vector<int> initial(n, -1);
    initial[0] = 0;
    std::vector<int> expected = initial, queue(1);
    for (size_t next = 0; next < queue.size(); next++)
        for (int i = starts[queue[next]]; i < starts[queue[next] + 1]; i++)
            if (expected[neighbours[i]] < 0) {
                expected[neighbours[i]] = expected[queue[next]] + 1;
                queue.push_back(neighbours[i]);
            }
    int depth = expected[queue.back()];
    Buffer<int> device_starts(starts), device_neighbours(neighbours), levels(initial);
    auto search = [&] {
        for (int level = 0; level < depth; level++)
            LAUNCH(visit, n / 256, 256, device_starts, device_neighbours, levels, n, level);
    };
    measure([&] { levels.write(initial); }, search, [&] { expect("levels", levels.read(), expected); });
}
