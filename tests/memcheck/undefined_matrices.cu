// An element of a product of matrices is undefined where its row or its column is, or what is added.
#include "memcheck.h"

// 16 x 8 halves times 8 x 8 halves: lanes with the same number / 4 have a row, or a column.
__device__ void multiply(float d[4], unsigned a0, unsigned a1, unsigned b0, float c) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %7, %7, %7};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a0), "r"(a1), "r"(b0), "f"(c));
}

// Row 3 of the first factor: 4 lanes, in the upper half.
__global__ void row(const unsigned *a, int *out) {
    float d[4];
    multiply(d, a[threadIdx.x], a[threadIdx.x + 32], 0, 0);
    if (d[0] > 1) out[0] = 1; //~ ERROR undefined-branch
    if (d[1] > 1) out[1] = 1; //~ ERROR undefined-branch
    if (d[2] > 1) out[2] = 1;
    if (d[3] > 1) out[3] = 1;
}

// Column 3 of the second: 8 lanes, every second element.
__global__ void column(const unsigned *b, int *out) {
    float d[4];
    multiply(d, 0, 0, b[threadIdx.x], 0);
    if (d[0] > 1) out[0] = 1;
    if (d[1] > 1) out[1] = 1; //~ ERROR undefined-branch
    if (d[2] > 1) out[2] = 1;
    if (d[3] > 1) out[3] = 1; //~ ERROR undefined-branch
}

// What is added: one lane.
__global__ void added(const float *c, int *out) {
    float d[4];
    multiply(d, 0, 0, 0, c[threadIdx.x]);
    if (d[0] > 1) out[0] = 1; //~ ERROR undefined-branch
}

int main() {
    int *out = device<int>(4);
    unsigned *a = fresh<unsigned>(64), *b = fresh<unsigned>(32);
    float *c = fresh<float>(32);
    OK(cudaMemset(a, 0, 256));
    OK(cudaMemset(b, 0, 128));
    OK(cudaMemset(c, 0, WRONG_OR_RIGHT(124, 128)));
    unsigned *hole = fresh<unsigned>(1);
    if (WRONG_OR_RIGHT(1, 0)) {
        OK(cudaMemcpy(a + 13, hole, 4, cudaMemcpyDeviceToDevice));
        OK(cudaMemcpy(b + 14, hole, 4, cudaMemcpyDeviceToDevice));
    }
    row<<<1, 32>>>(a, out);
    column<<<1, 32>>>(b, out);
    added<<<1, 32>>>(c, out);
    return finish();
}
