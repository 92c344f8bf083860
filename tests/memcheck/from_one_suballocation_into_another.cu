//@ headers: nvtx
#include "suballocator.h"


__global__ void fill(int *data, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = i; //~ ERROR wrong-allocation
}

int main() {
    Pool pool(1 << 20, "arena");
    int *weights = pool.allocate<int>(100, "weights");
    pool.allocate<int>(50, "biases");
    fill<<<1, 128>>>(weights, WRONG_OR_RIGHT(101, 100));
    return finish();
}
