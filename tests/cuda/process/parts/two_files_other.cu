// The other file of two_files.cu.

__device__ int shared_variable = 100;
__constant__ int table[4] = {10, 20, 30, 40};
__device__ int from_other_file(int x) { return x * 3; }

static __global__ void increment() { shared_variable++; }

int launch_in_other_file() {
    int value = 0;
    increment<<<1, 1>>>();
    cudaMemcpyFromSymbol(&value, shared_variable, sizeof value);
    return value;
}
