// Vectors in an array of bytes, which declares no alignment and is the only variable in shared memory.
#include <cstdio>

__global__ void reverse(float4 *out) {
    __shared__ unsigned char bytes[32 * sizeof(float4)];
    float4 *vectors = (float4 *)bytes;
    vectors[threadIdx.x] = make_float4(1, 2, 3, threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = vectors[31 - threadIdx.x];
}

int main() {
    float4 *device, host[32];
    cudaMalloc(&device, sizeof host);
    reverse<<<1, 32>>>(device);
    if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDefault) != cudaSuccess) return 1;
    for (int i = 0; i < 32; i++)
        if (host[i].w != 31 - i || host[i].x != 1) return 2;
    cudaFree(device);
    puts("PASS");
}
