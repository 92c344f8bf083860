#include "memcheck.h"
#include <cstring>

// A kernel is given memory of the host. Who asks the device before is told that it has no access to that.
__global__ void increment(int *data) {
    data[threadIdx.x] += 1; //~ ERROR host-memory
}

int main() {
    int can = 0, *data;
    OK(cudaDeviceGetAttribute(&can, cudaDevAttrPageableMemoryAccess, 0));
    if (WRONG_OR_RIGHT(true, can))
        data = (int *)calloc(32, sizeof(int));
    else
        OK(cudaMallocManaged(&data, 32 * sizeof(int)));
    if (!WRONG_OR_RIGHT(true, can))
        memset(data, 0, 32 * sizeof(int));
    increment<<<1, 32>>>(data);
    return finish();
}
