#include "../memcheck/memcheck.h"

// Shared memory whose size the launch says, and arrays that lie in it one after another.
__global__ void reverse(int *data) {
    extern __shared__ int memory[];
    memory[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    data[threadIdx.x] = memory[blockDim.x - 1 - threadIdx.x]; //~ ERROR data-race
}

// The second array begins where the first has not ended: bytes were taken for elements.
__global__ void two_arrays(int *data, int count) {
    extern __shared__ int memory[];
    int *first = memory, *second = memory + WRONG_OR_RIGHT(count / 4, count);
    if (threadIdx.x < 32)
        for (int i = threadIdx.x; i < count; i += 32) first[i] = i;
    else
        second[threadIdx.x - 32] = data[threadIdx.x]; //~ ERROR data-race
    __syncthreads();
    data[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x % 32];
}

// Arrays of two types.
__global__ void two_types(double *numbers, char *flags) {
    extern __shared__ double doubles[];
    char *marks = (char *)(doubles + 32);
    if (threadIdx.x < 32)
        doubles[threadIdx.x] = numbers[threadIdx.x];
    else
        marks[threadIdx.x - WRONG_OR_RIGHT(33, 32)] = flags[threadIdx.x] + 1; //~ ERROR data-race
    __syncthreads();
    if (threadIdx.x < 32) flags[threadIdx.x] = marks[threadIdx.x] + (doubles[31 - threadIdx.x] > 0);
}

template <typename T, int COUNT> __global__ void rotate(T *data) {
    __shared__ T ring[COUNT];
    ring[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    data[threadIdx.x] = ring[(threadIdx.x + 32) % COUNT]; //~ ERROR data-race
}

// A pointer into the static or into the dynamic array.
__global__ void either(int *data, bool is_dynamic) {
    extern __shared__ int memory[];
    __shared__ int array[128];
    int *buffer = is_dynamic ? memory : array;
    buffer[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    data[threadIdx.x] = buffer[127 - threadIdx.x]; //~ ERROR data-race
}

int main() {
    reverse<<<1, 128, 512>>>(device<int>(128));
    two_arrays<<<1, 64, 128 * sizeof(int)>>>(device<int>(64), 64);
    two_types<<<1, 64, 32 * 9>>>(device<double>(32), device<char>(64));
    rotate<short, 64><<<1, 64>>>(device<short>(64));
    rotate<double, 96><<<1, 96>>>(device<double>(96));
    either<<<1, 128, 512>>>(device<int>(128), true);
    either<<<1, 128, 512>>>(device<int>(128), false);
    return finish();
}
