// Memory that is freed before work on it runs, which nothing orders: a mistake that ends in an error, not in a signal.
//@ bugs: work and a free that nothing orders

#include "../expect.h"
#include <atomic>
#include <thread>

static std::atomic<bool> is_freed(false);

static void wait_for_free(void *) {
    while (!is_freed) std::this_thread::yield();
}

int main() {
    cudaStream_t early, late;
    OK(cudaStreamCreateWithFlags(&early, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&late, cudaStreamNonBlocking));
    const size_t bytes = 64 << 20;
    char *p;
    OK(cudaMallocAsync(&p, bytes, early));
    OK(cudaStreamSynchronize(early));
    OK(cudaLaunchHostFunc(late, wait_for_free, nullptr));
    OK(cudaMemsetAsync(p, 1, bytes, late));
    OK(cudaFreeAsync(p, early));
    OK(cudaStreamSynchronize(early));
    is_freed = true;
    // Tools keep freed memory for a while.
    cudaError_t error = cudaStreamSynchronize(late);
    CHECK(error == cudaErrorIllegalAddress || error == cudaSuccess);
    return done();
}
