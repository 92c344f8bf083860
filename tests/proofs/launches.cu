//@ exit: 0
#include "../memcheck/memcheck.h"

// What is known before launches: of a grid that fits, of one that does not, of an index that is data, of two threads that write
// to one place, and of launches of two streams on one array and on two.
__global__ void fill(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = i;
}

__global__ void gather(const int *index, const int *data, int *out) { out[threadIdx.x] = data[index[threadIdx.x]]; }

__global__ void halves(int *data) { data[threadIdx.x / 2] = threadIdx.x; }

__global__ void in_one_stream(int *data) { data[threadIdx.x] += 1; }

__global__ void in_another_stream(int *data) { data[threadIdx.x] += 1; }

int main() {
    int *data = device<int>(100), *out = device<int>(100), *index = device<int>(100);
    fill<<<2, 64>>>(data, 100);
    fill<<<2, 64>>>(data, 101 - 2);
    fill<<<2, 64>>>(data, 200 - 99 + 20);
    gather<<<1, 100>>>(index, data, out);
    halves<<<1, 64>>>(data);
    cudaStream_t a, b;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaDeviceSynchronize());
    in_one_stream<<<1, 32, 0, a>>>(data);
    in_another_stream<<<1, 64, 0, b>>>(data);
    OK(cudaDeviceSynchronize());
    in_one_stream<<<1, 33, 0, a>>>(data);
    in_another_stream<<<1, 65, 0, b>>>(out);
    return finish();
}
