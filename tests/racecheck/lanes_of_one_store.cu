#include "../memcheck/memcheck.h"

// Lanes of one store that write different values to one place: any of them may be last.
__global__ void one_place(int *last) {
    if (WRONG_OR_RIGHT(true, threadIdx.x == 31)) *last = threadIdx.x; //~ ERROR data-race
}

__global__ void in_shared_memory(int *data) {
    __shared__ int last;
    if (WRONG_OR_RIGHT(data[threadIdx.x] == 0, threadIdx.x == 0)) last = threadIdx.x; //~ ERROR data-race
    __syncwarp();
    data[threadIdx.x] = last;
}

// A scatter by an index, which is not a permutation.
__global__ void scatter(int *out, const int *index) { out[index[threadIdx.x]] = threadIdx.x; } //~ ERROR data-race

// Two lanes share an element: the width is one too small.
__global__ void rows(float *out) { out[threadIdx.y * WRONG_OR_RIGHT(7, 8) + threadIdx.x] = threadIdx.y * 8 + threadIdx.x; } //~ ERROR data-race

// Two lanes for each element of two bytes.
__global__ void bytes(unsigned char *out) { *(unsigned short *)(out + threadIdx.x / WRONG_OR_RIGHT(2, 1) * 2) = threadIdx.x; } //~ ERROR data-race

// Vectors that overlap.
__global__ void vectors(float4 *out) {
    out[threadIdx.x / WRONG_OR_RIGHT(4, 1)] = make_float4(threadIdx.x, 0, 0, 0); //~ ERROR data-race
}

__global__ void doubles(double *out) { out[threadIdx.x % WRONG_OR_RIGHT(16, 32)] = threadIdx.x; } //~ ERROR data-race

int main() {
    one_place<<<1, 32>>>(device<int>(1));
    in_shared_memory<<<1, 32>>>(device<int>(32));
    int index[32];
    for (int i = 0; i < 32; ++i) index[i] = WRONG_OR_RIGHT(i == 20 ? 3 : i, i);
    int *indices = device<int>(32);
    OK(cudaMemcpy(indices, index, sizeof index, cudaMemcpyHostToDevice));
    scatter<<<1, 32>>>(device<int>(32), indices);
    rows<<<1, dim3(8, 4)>>>(device<float>(32));
    bytes<<<1, 32>>>(device<unsigned char>(64));
    vectors<<<1, 32>>>(device<float4>(32));
    doubles<<<1, 32>>>(device<double>(32));
    return finish();
}
