#include "memcheck.h"
#include <vector>

//@ exit: 0
// Asynchronous copies, both ways and by rows.
int main() {
    const int n = 1024;
    std::vector<int> unpinned(n);
    int *pinned;
    OK(cudaMallocHost(&pinned, n * sizeof(int)));
    int *host = WRONG_OR_RIGHT(unpinned.data(), pinned), *data = device<int>(n);
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMemcpyAsync(data, host, n * sizeof(int), cudaMemcpyHostToDevice, stream)); //~ ERROR unpinned-copy
    OK(cudaMemcpyAsync(host, data, n * sizeof(int), cudaMemcpyDeviceToHost, stream)); //~ ERROR unpinned-copy
    OK(cudaMemcpy2DAsync(host, 64, data, 64, 32, 8, cudaMemcpyDefault, stream)); //~ ERROR unpinned-copy
    OK(cudaStreamSynchronize(stream));
    // Right in any case.
    OK(cudaMemcpyAsync(data, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpyAsync(data, data + n / 2, 4, cudaMemcpyDeviceToDevice, stream));
    OK(cudaMemcpy(unpinned.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
    return finish();
}
