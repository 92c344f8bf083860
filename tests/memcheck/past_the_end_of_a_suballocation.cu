//@ headers: nvtx
//@ flags: --on-error continue
#include "suballocator.h"


__global__ void fill(char *data, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = i; //~ ERROR out-of-bounds
}

// The bounds of what a pointer in memory points to are only in the shadow.
__global__ void fill_first(char **data, int at) {
    data[0][at] = 1; //~ ERROR out-of-bounds
}

int main() {
    Pool pool(4096, "arena");
    char **table = device<char *>(1);
    // Neither begins nor ends with a word.
    pool.allocate<char>(3);
    char *data = pool.allocate<char>(63);
    fill<<<1, 64>>>(data, 63);
    fill<<<1, 64>>>(data, WRONG_OR_RIGHT(64, 63));
    cudaDeviceSynchronize();
    OK(cudaMemcpy(table, &data, sizeof data, cudaMemcpyHostToDevice));
    fill_first<<<1, 1>>>(table, WRONG_OR_RIGHT(63, 62));
    fill_first<<<1, 1>>>(table, -1);
    cudaDeviceSynchronize();
    // Now there is one more.
    pool.resize(data, 64);
    fill<<<1, 64>>>(data, 64);
    fill_first<<<1, 1>>>(table, 63);
    return finish();
}
