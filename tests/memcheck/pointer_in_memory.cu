#include "memcheck.h"

__global__ void fill(int **rows) {
    rows[threadIdx.y][threadIdx.x] = 1; //~ ERROR out-of-bounds
}

int main() {
    int *rows[4];
    for (int *&row : rows)
        row = device<int>(WRONG_OR_RIGHT(31, 32));
    int **on_device = device<int *>(4);
    OK(cudaMemcpy(on_device, rows, sizeof rows, cudaMemcpyHostToDevice));
    fill<<<1, dim3(32, 4)>>>(on_device);
    return finish();
}
