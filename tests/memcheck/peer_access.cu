// A kernel uses memory of another device without peer access: a parameter, a pointer from memory, and memory of a pool.
//@ flags: --gpu a100,t4 --device-memory 256M --on-error continue

#include "../cuda/check.h"

struct Buffers {
    int *data;
};

__global__ void read(int *out, const int *in) {
    out[threadIdx.x] = in[threadIdx.x]; //~ ERROR peer-access
}

__global__ void follow(Buffers *buffers) {
    buffers->data[threadIdx.x] = threadIdx.x; //~ ERROR peer-access
}

__global__ void pooled(int *out) {
    atomicAdd(out, 1); //~ ERROR peer-access
}

int main() {
    int *near, *far, *of_pool;
    Buffers *buffers;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&far, 32 * sizeof(int)));
    CHECK(cudaMemset(far, 0, 32 * sizeof(int)));
    CHECK(cudaMallocAsync(&of_pool, sizeof(int), 0));
    CHECK(cudaMemsetAsync(of_pool, 0, sizeof(int), 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&near, 32 * sizeof(int)));
    CHECK(cudaMalloc(&buffers, sizeof *buffers));
    CHECK(cudaMemcpy(buffers, &far, sizeof far, cudaMemcpyHostToDevice));
#ifdef FIXED
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    cudaMemPool_t pool;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 1));
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    CHECK(cudaMemPoolSetAccess(pool, &access, 1));
#endif
    read<<<1, 32>>>(near, far);
    follow<<<1, 32>>>(buffers);
    pooled<<<1, 32>>>(of_pool);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(near));
    CHECK(cudaFree(buffers));
    CHECK(cudaSetDevice(1));
    CHECK(cudaFree(far));
    CHECK(cudaFreeAsync(of_pool, 0));
    CHECK(cudaDeviceSynchronize());
    return 0;
}
