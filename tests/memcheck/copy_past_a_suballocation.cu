//@ headers: nvtx
#include "suballocator.h"


int main() {
    Pool pool(1 << 20, "arena");
    int *data = pool.allocate<int>(100, "input");
    pool.allocate<int>(100, "output");
    // All of the heap, and what is free, may be filled.
    OK(cudaMemset(pool.start, 0, 1 << 20));
    OK(cudaMemset(pool.start + 800, 0, 100));
    int host[101] = {};
    OK(cudaMemcpy(data, host, WRONG_OR_RIGHT(101, 100) * sizeof(int), cudaMemcpyHostToDevice)); //~ ERROR invalid-copy
    return finish();
}
