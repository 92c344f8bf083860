#include "../memcheck/memcheck.h"

// Threads of different blocks, which no barrier orders.
__global__ void counter(int *count) {
    if (WRONG_OR_RIGHT(true, false))
        *count = *count + 1; //~ ERROR data-race
    else
        atomicAdd(count, 1);
}

__global__ void histogram(const int *data, int *bins) {
    int bin = (data[blockIdx.x * 32 + threadIdx.x] + threadIdx.x) & 31;
    if (WRONG_OR_RIGHT(true, false))
        bins[bin]++; //~ ERROR data-race
    else
        atomicAdd(&bins[bin], 1);
}

// A stencil in place: the neighbour at the edge is another block's.
__global__ void stencil(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 32;
    out[i] = in[i - 32] + in[i + 32]; //~ ERROR data-race
}

// Each block writes a range; the last element of one is the first of the next.
__global__ void ranges(int *out, int each) {
    int first = blockIdx.x * each;
    for (int i = threadIdx.x; i < each + WRONG_OR_RIGHT(1, 0); i += blockDim.x) out[first + i] = blockIdx.x; //~ ERROR data-race
}

// Blocks of 96 threads, and a stride of 64.
__global__ void wrong_stride(int *out) { out[blockIdx.x * WRONG_OR_RIGHT(64, 96) + threadIdx.x] = blockIdx.x + threadIdx.x; } //~ ERROR data-race

// A sum over all blocks, of which one reads what others have still to write.
__global__ void sum(int *part, int *out) {
    if (WRONG_OR_RIGHT(true, blockIdx.x < 4)) part[blockIdx.x] = blockIdx.x;
    if (blockIdx.x == gridDim.x - 1) {
        int sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; ++i) sum += WRONG_OR_RIGHT(part, out)[i]; //~ ERROR data-race
        *out = sum;
    }
}

// Loops over the whole grid that begin at the thread instead of at the thread of the grid.
__global__ void grid_stride(int *data, int count) {
    for (int i = threadIdx.x + WRONG_OR_RIGHT(0, blockIdx.x) * blockDim.x; i < count; i += blockDim.x * gridDim.x)
        data[i] = data[i] + blockIdx.x + 1; //~ ERROR data-race
}

// A list of work, to which elements are appended at a place that is taken without an atomic.
__global__ void work_list(int *size, int *list) {
    int place = WRONG_OR_RIGHT((*size)++, atomicAdd(size, 1)); //~ ERROR data-race
    list[place % 64] = blockIdx.x;
}

// A graph: the levels of neighbours are written while others read them.
__global__ void levels(const int *edges, const int *old, int *level) {
    int node = blockIdx.x;
    int neighbour = edges[node];
    if (old[neighbour] >= 0 && level[node] < 0) level[node] = old[neighbour] + 1; //~ ERROR data-race
}

// The kernel copies from and to ranges that overlap.
__global__ void move(const int *from, int *to) { to[blockIdx.x * 32 + threadIdx.x] = from[blockIdx.x * 32 + threadIdx.x]; } //~ ERROR data-race

// Blocks of one thread that write into one word, by bytes, and one by the whole.
__global__ void bytes_of_a_word(unsigned char *out) {
    if (blockIdx.x < 4)
        out[blockIdx.x] = blockIdx.x;
    else
        *(int *)(out + WRONG_OR_RIGHT(0, 4)) = 0x10203; //~ ERROR data-race
}

// The largest number, by a comparison and a write.
__global__ void maximum(const int *data, int *largest) {
    int value = data[blockIdx.x] + blockIdx.x;
    if (WRONG_OR_RIGHT(true, false)) {
        if (value > *largest) *largest = value; //~ ERROR data-race
    } else {
        atomicMax(largest, value);
    }
}

int main() {
    counter<<<4, 1>>>(device<int>(1));
    histogram<<<4, 32>>>(device<int>(128), device<int>(32));
    float *field = device<float>(256);
    stencil<<<3, 64>>>(field, WRONG_OR_RIGHT(field, device<float>(256)));
    ranges<<<3, 32>>>(device<int>(301), 100);
    wrong_stride<<<3, 96>>>(device<int>(288));
    sum<<<5, 1>>>(device<int>(5), device<int>(5));
    grid_stride<<<2, 32>>>(device<int>(128), 128);
    work_list<<<4, 1>>>(device<int>(1), device<int>(64));
    int *edges = device<int>(4), *level = device<int>(4), before[4] = {0, -1, -1, -1}, edge[4] = {1, 0, 1, 2};
    OK(cudaMemcpy(edges, edge, sizeof edge, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(level, before, sizeof before, cudaMemcpyHostToDevice));
    int *old = device<int>(4);
    OK(cudaMemcpy(old, before, sizeof before, cudaMemcpyHostToDevice));
    levels<<<4, 1>>>(edges, WRONG_OR_RIGHT(level, old), level);
    int *array = device<int>(256);
    move<<<4, 32>>>(array, array + WRONG_OR_RIGHT(64, 128));
    bytes_of_a_word<<<5, 1>>>(device<unsigned char>(8));
    maximum<<<4, 1>>>(device<int>(4), device<int>(1));
    return finish();
}
