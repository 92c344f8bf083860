// Each lane has the address of a row, but not all addresses count.
//@ architecture: sm_90
#include "memcheck.h"

const int ROWS = 8, ROW = 8;

__device__ unsigned shared_address(const void *pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

__global__ void transpose(unsigned *out) {
    __shared__ __align__(16) short one[ROWS * ROW], two[2 * ROWS * ROW];
    int lane = threadIdx.x;
    for (int i = lane; i < 2 * ROWS * ROW; i += 32) one[i % (ROWS * ROW)] = two[i] = (short)i;
    __syncwarp();
    // One matrix: lanes 8 to 31 have addresses that nobody asks for.
    int row = WRONG_OR_RIGHT(lane + 1, lane);
    unsigned x, y, z;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" //~ ERROR shared-out-of-bounds
                 : "=r"(x) : "r"(shared_address(one) + row * 16));
    // Two matrices: lanes 16 to 31.
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" //~ ERROR shared-out-of-bounds
                 : "=r"(y), "=r"(z) : "r"(shared_address(two) + row * 16));
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" //~ ERROR shared-out-of-bounds
                 :: "r"(shared_address(one) + row * 16), "r"(x + y + z) : "memory");
    __syncwarp();
    out[lane] = one[lane];
}

int main() {
    transpose<<<1, 32>>>(device<unsigned>(32));
    return finish();
}
