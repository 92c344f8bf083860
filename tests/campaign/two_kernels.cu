// A campaign of two kernels, one without a loop and one with barriers: whatever shards it runs in, and whenever it is killed, it ends
// with the same rows.
#include <cstdio>

__global__ void scale(float *numbers, float factor, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        numbers[i] = numbers[i] * factor + 1.0f;
}

__global__ void sum(const float *numbers, float *result, int count) {
    __shared__ float sums[64];
    float own = 0;
    for (int i = threadIdx.x; i < count; i += 64)
        own += numbers[i];
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int distance = 32; distance > 0; distance /= 2) {
        if (threadIdx.x < distance)
            sums[threadIdx.x] += sums[threadIdx.x + distance];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *result = sums[0];
}

int main() {
    const int count = 256;
    float numbers[count], result = 0, *device_numbers, *device_result;
    for (int i = 0; i < count; i++)
        numbers[i] = float(i);
    cudaMalloc(&device_numbers, sizeof numbers);
    cudaMalloc(&device_result, sizeof result);
    cudaMemcpy(device_numbers, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    scale<<<4, 64>>>(device_numbers, 2.0f, count);
    sum<<<1, 64>>>(device_numbers, device_result, count);
    if (cudaMemcpy(&result, device_result, sizeof result, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    printf("%g\n", result);
}
