#include "memcheck.h"

__global__ void fill(char *data, size_t pitch, int rows) {
    ((float *)(data + blockIdx.x * pitch))[threadIdx.x] = rows; //~ ERROR out-of-bounds
}

int main() {
    char *data;
    size_t pitch;
    OK(cudaMallocPitch(&data, &pitch, 50 * sizeof(float), 10));
    fill<<<WRONG_OR_RIGHT(11, 10), 50>>>(data, pitch, 10);
    return finish();
}
