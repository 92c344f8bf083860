// A pointer of which nobody knows where it points, and that points into shared memory: the launch ends, and does not go on without
// a transaction.
//@ stops: cudaErrorIllegalInstruction cudaErrorLaunchFailure
#include <warpgrind/transactional.cuh>

#include "stm.h"

__global__ void count(int **pointers, int *global) {
    __shared__ int shared;
    shared = 0;
#ifdef FIXED
    pointers[0] = global;
#else
    pointers[0] = &shared;
#endif
    __syncthreads();
    int *volatile *const where = pointers;
    int *const p = *where;
    warpgrind::transaction_begin();
    *p += 1;
    warpgrind::transaction_end();
    __syncthreads();
    if (threadIdx.x == 0) *global = *p;
}

int main() {
    int **pointers = managed<int *>(1), *global = managed<int>(1);
    count<<<1, 1>>>(pointers, global);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorName(error));
        return 4;
    }
    return check(*global == 1, "the count");
}
