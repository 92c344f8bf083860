//@ exit: 0
#include "../memcheck/memcheck.h"

// Threads of one level give the next one to nodes that have none: it makes no difference who does, nor whether threads of these
// nodes have looked before or after, because they compare with a level that is neither the old value nor the new one.
__global__ void visit(const int *starts, const int *neighbours, int *levels, int level) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (levels[node] != level)
        return;
    for (int i = starts[node]; i < starts[node + 1]; i++)
        if (levels[neighbours[i]] < 0)
            levels[neighbours[i]] = level + 1;
}

// Here threads notice what others set: each sees whether one before it was there.
__global__ void notice(int *flags, const int *before, int *saw) {
    int t = threadIdx.x;
#ifdef FIXED
    saw[t] = before[t] == 1;
#else
    saw[t] = flags[t] == 1;
#endif
    if (flags[(t + 5) % 64] == 0)
        flags[(t + 5) % 64] = 1; //~ ERROR conflict
}

int main() {
    const int n = 256;
    int starts[n + 1], neighbours[4 * n], levels[n], expected[n], queue[n], count = 1;
    for (int node = 0; node <= n; node++)
        starts[node] = 4 * node;
    for (int i = 0; i < 4 * n; i++)
        neighbours[i] = (i / 4 * 3 + i % 4 * 7 + 1) % n;
    for (int node = 0; node < n; node++)
        levels[node] = expected[node] = node ? -1 : 0;
    queue[0] = 0;
    for (int next = 0; next < count; next++)
        for (int i = 4 * queue[next]; i < 4 * queue[next] + 4; i++)
            if (expected[neighbours[i]] < 0)
                expected[queue[count++] = neighbours[i]] = expected[queue[next]] + 1;
    int *to_starts = device<int>(n + 1), *to_neighbours = device<int>(4 * n), *to_levels = device<int>(n);
    OK(cudaMemcpy(to_starts, starts, sizeof starts, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(to_neighbours, neighbours, sizeof neighbours, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(to_levels, levels, sizeof levels, cudaMemcpyHostToDevice));
    for (int level = 0; level <= expected[queue[count - 1]]; level++)
        visit<<<n / 64, 64>>>(to_starts, to_neighbours, to_levels, level);
    OK(cudaMemcpy(levels, to_levels, sizeof levels, cudaMemcpyDeviceToHost));
    for (int node = 0; node < n; node++)
        if (levels[node] != expected[node])
            return 3;
    int *flags = device<int>(64), *before = device<int>(64), *saw = device<int>(64), seen[64];
    notice<<<1, 64>>>(flags, before, saw);
    OK(cudaMemcpy(seen, saw, sizeof seen, cudaMemcpyDeviceToHost));
#ifndef FIXED
    for (int t = 0; t < 64; t++)
        if (seen[t] != (t >= 5))
            return 4;
#endif
    return finish();
}
