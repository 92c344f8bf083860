// A program that uses the runtime as most do, and checks its own result.
#include <cstdio>

__global__ void scale(float *data, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] *= 2.0f;
}

int main() {
    const int count = 1000;
    float host[count], *device;
    for (int i = 0; i < count; i++) host[i] = i;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    scale<<<(count + 127) / 128, 128>>>(device, count);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(device);
    for (int i = 0; i < count; i++) {
        if (host[i] != 2.0f * i) {
            printf("wrong at %d: %g\n", i, host[i]);
            return 1;
        }
    }
    printf("scaled: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
