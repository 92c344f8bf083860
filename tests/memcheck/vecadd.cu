#include <cstdio>

__global__ void vecadd(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    if (i < n)
#endif
    c[i] = a[i] + b[i]; //~ ERROR out-of-bounds
}

int main() {
    const int n = 1000;
    float *a, *b, *c;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&c, n * sizeof(float));
    cudaMemset(a, 0, n * sizeof(float));
    cudaMemset(b, 0, n * sizeof(float));
    vecadd<<<4, 256>>>(a, b, c, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
