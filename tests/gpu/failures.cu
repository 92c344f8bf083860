// Asks for memory of all kinds, and says which call went wrong, if one did. A driver fails under it.

#include <cstdio>
#include <cstdlib>

#define TRY(call)                                                                     \
    do {                                                                              \
        cudaError_t error = (call);                                                   \
        if (error != cudaSuccess) {                                                   \
            printf("%s: %s\n", #call, cudaGetErrorName(error));                      \
            return 3;                                                                 \
        }                                                                             \
    } while (0)

__device__ int factor = 3;
__managed__ int summand = 4;

__global__ void scale(int *out, const int *in, int n) {
    __shared__ int cells[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cells[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = cells[threadIdx.x] * factor + summand;
}

int main() {
    const int n = 1000;
    int *device, *managed, *pinned;
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&device, n * sizeof(int)));
    TRY(cudaMallocManaged(&managed, n * sizeof(int)));
    TRY(cudaMallocHost(&pinned, n * sizeof(int)));
    for (int i = 0; i < n; i++) managed[i] = i;
    for (int round = 0; round < 3; round++) {
        scale<<<(n + 63) / 64, 64, 0, stream>>>(device, managed, n);
        TRY(cudaGetLastError());
        TRY(cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDefault, stream));
        TRY(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; i++) {
            if (pinned[i] != 3 * i + 4) {
                printf("element %d is %d\n", i, pinned[i]);
                return 4;
            }
        }
        int *large;
        TRY(cudaMalloc(&large, 32 << 20));
        TRY(cudaMemset(large, 0, 32 << 20));
        TRY(cudaFree(large));
    }
    TRY(cudaFree(device));
    TRY(cudaFree(managed));
    TRY(cudaFreeHost(pinned));
    TRY(cudaStreamDestroy(stream));
    printf("PASS\n");
    return 0;
}
