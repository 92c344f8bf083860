// A device of 256 MB is full when it is full, and can be used again after memory was freed.
//@ run: --device-memory 256M

#include "../expect.h"
#include <vector>

int main() {
    size_t free_bytes = 0, total = 0;
    OK(cudaMemGetInfo(&free_bytes, &total));
    CHECK(total == 256 << 20);
    std::vector<void *> all;
    void *p;
    cudaError_t error;
    while ((error = cudaMalloc(&p, 16 << 20)) == cudaSuccess && all.size() < 100) all.push_back(p);
    CHECK(error == cudaErrorMemoryAllocation);
    CHECK(all.size() >= 14 && all.size() <= 16);
    RETURNS(cudaErrorMemoryAllocation, cudaGetLastError());
    for (void *one : all) OK(cudaFree(one));
    OK(cudaMalloc(&p, 128 << 20));
    OK(cudaMemset(p, 1, 128 << 20));
    OK(cudaFree(p));
    RETURNS(cudaErrorMemoryAllocation, cudaMallocManaged(&p, (size_t)1 << 40));
    return done();
}
