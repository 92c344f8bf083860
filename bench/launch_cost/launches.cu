// Launches with different scalars: prints the processor time of one, in microseconds.
//
//     launches LAUNCHES SCALARS ELEMENTS
#include <cstdio>
#include <cstdlib>
#include <ctime>

__global__ void steps(float *x, const float *y, int count, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float value = x[i];
    for (int step = 0; step < 24; ++step)
        value = value * factor + y[i];
    x[i] = value;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: launches LAUNCHES SCALARS ELEMENTS\n");
        return 2;
    }
    int launches = atoi(arguments[1]), scalars = atoi(arguments[2]), elements = atoi(arguments[3]);
    float *x, *y;
    cudaMalloc(&x, elements * sizeof(float));
    cudaMalloc(&y, elements * sizeof(float));
    cudaMemset(x, 0, elements * sizeof(float));
    cudaMemset(y, 0, elements * sizeof(float));
    steps<<<(elements + 255) / 256, 256>>>(x, y, elements, 0.5f);
    cudaDeviceSynchronize();
    clock_t begin = clock();
    for (int i = 0; i < launches; ++i)
        steps<<<(elements + 255) / 256, 256>>>(x, y, elements - i % scalars, 0.5f);
    cudaDeviceSynchronize();
    printf("%g\n", double(clock() - begin) / CLOCKS_PER_SEC / launches * 1e6);
    return cudaGetLastError();
}
