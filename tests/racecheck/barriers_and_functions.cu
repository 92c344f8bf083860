#include "../memcheck/memcheck.h"

// Barriers and accesses in functions that are called, through pointers, and by themselves.
const int THREADS = 128;

__device__ __noinline__ void barrier_if(bool is_there) {
    if (is_there) __syncthreads();
}

// The barrier is in a function, in which a uniform branch leaves it out.
__global__ void in_a_function(int *data, bool is_there) {
    __shared__ int tile[THREADS];
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    barrier_if(is_there);
    data[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// A uniform branch leaves it out in the kernel.
__global__ void uniform_branch(int *data, int size) {
    __shared__ int tile[THREADS];
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    if (size > 64) __syncthreads();
    data[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

__device__ __noinline__ void put(int *where, int value) { where[threadIdx.x] = value; } //~ ERROR data-race
__device__ __noinline__ int take(const int *where) { return where[THREADS - 1 - threadIdx.x]; } //~ ERROR data-race

// Both accesses are in functions, the missing barrier between the calls.
__global__ void accesses_in_functions(int *data) {
    __shared__ int tile[THREADS];
    put(tile, data[threadIdx.x]);
    WRONG_OR_RIGHT((void)0, __syncthreads());
    data[threadIdx.x] = take(tile);
}

typedef int (*Step)(int *, int);
__device__ __noinline__ int with_barrier(int *tile, int value) {
    tile[threadIdx.x] = value;
    __syncthreads();
    return tile[THREADS - 1 - threadIdx.x];
}
__device__ __noinline__ int without_barrier(int *tile, int value) {
    tile[threadIdx.x] = value; //~ ERROR data-race
    return tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}
__device__ Step steps[2] = {with_barrier, without_barrier};

// Which function is called is known when it is.
__global__ void through_a_pointer(int *data, int which) {
    __shared__ int tile[THREADS];
    data[threadIdx.x] = steps[which](tile, data[threadIdx.x]);
}

__device__ __noinline__ int recursive(int *tile, int depth) {
    tile[threadIdx.x] = depth; //~ ERROR data-race
    if (WRONG_OR_RIGHT(depth > 1, true)) __syncthreads();
    int sum = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
    __syncthreads();
    return depth == 0 ? sum : sum + recursive(tile, depth - 1);
}

// The last calls of a function that calls itself have no barrier.
__global__ void recursion(int *data, int depth) {
    __shared__ int tile[THREADS];
    data[threadIdx.x] = recursive(tile, depth);
}

struct Shape {
    __device__ virtual void write(int *tile) const { tile[threadIdx.x] = 1; }
};
struct Wide : Shape {
    __device__ void write(int *tile) const override { tile[(threadIdx.x + WRONG_OR_RIGHT(32, 0)) % THREADS] += 2; } //~ ERROR data-race
};

// A virtual function, whose object says which element it writes.
__global__ void virtual_function(int *data, bool is_wide) {
    __shared__ int tile[THREADS];
    Wide wide;
    Shape plain;
    Shape *shape = is_wide ? &wide : &plain;
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    shape->write(tile);
    __syncthreads();
    data[threadIdx.x] = tile[threadIdx.x];
}

// A kernel that prints.
__global__ void with_printf(int *data) {
    __shared__ int tile[THREADS];
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    if (threadIdx.x == 0) printf("%d threads\n", blockDim.x);
    WRONG_OR_RIGHT((void)0, __syncthreads());
    data[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// Barriers that count or vote are barriers, too.
__global__ void barrier_that_counts(int *data) {
    __shared__ int tile[THREADS];
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    int count = WRONG_OR_RIGHT(0, __syncthreads_count(data[threadIdx.x] > 0));
    int other = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
    int is_any = __syncthreads_or(other > 0);
    tile[threadIdx.x] = other + count;
    is_any += __syncthreads_and(other > 0);
    data[threadIdx.x] = tile[(threadIdx.x + 32) % THREADS] + is_any;
}

int main() {
    in_a_function<<<1, THREADS>>>(device<int>(THREADS), WRONG_OR_RIGHT(false, true));
    uniform_branch<<<1, THREADS>>>(device<int>(THREADS), WRONG_OR_RIGHT(64, 65));
    accesses_in_functions<<<1, THREADS>>>(device<int>(THREADS));
    through_a_pointer<<<1, THREADS>>>(device<int>(THREADS), WRONG_OR_RIGHT(1, 0));
    recursion<<<1, THREADS>>>(device<int>(THREADS), 4);
    virtual_function<<<1, THREADS>>>(device<int>(THREADS), true);
    with_printf<<<1, THREADS>>>(device<int>(THREADS));
    barrier_that_counts<<<1, THREADS>>>(device<int>(THREADS));
    return finish();
}
