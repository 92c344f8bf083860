#include "../memcheck/memcheck.h"

// Memory that is not an allocation of the device.
__device__ int counter;
__device__ int table[64];

__global__ void variable(int *out) {
    if (WRONG_OR_RIGHT(true, false))
        counter += 1; //~ ERROR data-race
    else
        atomicAdd(&counter, 1);
}

__global__ void table_of_the_device(int *out) {
    table[threadIdx.x] = threadIdx.x; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    out[threadIdx.x] = table[63 - threadIdx.x]; //~ ERROR data-race
}

__managed__ int managed_sum;

__global__ void managed_variable() {
    if (WRONG_OR_RIGHT(true, false))
        managed_sum += 1; //~ ERROR data-race
    else
        atomicAdd(&managed_sum, 1);
}

__global__ void managed_memory(int *data) { data[(blockIdx.x * 32 + threadIdx.x) % WRONG_OR_RIGHT(96, 128)] = blockIdx.x; } //~ ERROR data-race

// Memory that a kernel allocates, or that lies in another allocation.
__global__ void heap_of_the_device(int *out) {
    __shared__ int *memory;
    if (threadIdx.x == 0) memory = (int *)malloc(256);
    __syncthreads();
    memory[threadIdx.x] = threadIdx.x; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    out[threadIdx.x] = memory[63 - threadIdx.x]; //~ ERROR data-race
    __syncthreads();
    if (threadIdx.x == 0) free(memory);
}

// Memory of the host, which the device sees.
__global__ void host_memory(int *data) { data[blockIdx.x / WRONG_OR_RIGHT(2, 1)] = blockIdx.x; } //~ ERROR data-race

// Memory of a pool.
__global__ void pool(int *data) { data[blockIdx.x / WRONG_OR_RIGHT(2, 1)] = blockIdx.x; } //~ ERROR data-race

// A pointer of which only the data says where it points.
__global__ void pointers(int **rows) { rows[blockIdx.x][threadIdx.x] = blockIdx.x; } //~ ERROR data-race

int main() {
    variable<<<3, 1>>>(nullptr);
    table_of_the_device<<<1, 64>>>(device<int>(64));
    managed_variable<<<3, 1>>>();
    int *managed, *of_host, *of_pool;
    OK(cudaMallocManaged(&managed, 512));
    managed_memory<<<4, 32>>>(managed);
    heap_of_the_device<<<1, 64>>>(device<int>(64));
    OK(cudaHostAlloc(&of_host, 256, cudaHostAllocMapped));
    host_memory<<<4, 1>>>(of_host);
    OK(cudaMallocAsync(&of_pool, 256, 0));
    pool<<<4, 1>>>(of_pool);
    int *memory = device<int>(128), *row[2] = {memory, memory + WRONG_OR_RIGHT(16, 32)}, **rows = device<int *>(2);
    OK(cudaMemcpy(rows, row, sizeof row, cudaMemcpyHostToDevice));
    pointers<<<2, 32>>>(rows);
    return finish();
}
