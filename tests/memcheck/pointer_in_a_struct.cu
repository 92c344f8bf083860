#include "memcheck.h"

struct Matrix {
    int rows, columns;
    float *data;
};

__global__ void fill(Matrix matrix) {
    matrix.data[threadIdx.y * matrix.columns + threadIdx.x] = 1; //~ ERROR out-of-bounds
}

int main() {
    Matrix matrix = {8, 8, device<float>(64)};
    fill<<<1, dim3(8, WRONG_OR_RIGHT(9, 8))>>>(matrix);
    return finish();
}
