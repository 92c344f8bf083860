#include "memcheck.h"

// Undefined values that go from one thread to another before they decide: by shuffles, votes, barriers, shared memory and
// atomic operations.
const int THREADS = 64;
const unsigned ALL = 0xffffffff;

__global__ void shuffled_down(const int *data, int *out) {
    int sum = data[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL, sum, distance);
    if (threadIdx.x % 32 == 0 && sum > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void shuffled_up(const int *data, int *out) {
    int sum = data[threadIdx.x];
    for (int distance = 1; distance < 32; distance *= 2) {
        int other = __shfl_up_sync(ALL, sum, distance);
        if (threadIdx.x % 32 >= distance)
            sum += other;
    }
    if (sum > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void exchanged(const int *data, int *out) {
    int other = __shfl_xor_sync(ALL, data[threadIdx.x], 1);
    if (other > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

// Each lane gets the value of the first, which is defined.
__global__ void broadcast_of_the_defined(const int *data, int *out) {
    int mine = threadIdx.x % 32 == 0 ? 7 : data[threadIdx.x];
    if (__shfl_sync(ALL, mine, 0) > 3)
        atomicAdd(out, 1);
}

__global__ void voted_any(const int *data, int *out) {
    if (__any_sync(ALL, data[threadIdx.x] > 3)) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void voted_all(const int *data, int *out) {
    if (__all_sync(ALL, data[threadIdx.x] > 3)) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void ballot(const int *data, int *out) {
    if (__popc(__ballot_sync(ALL, data[threadIdx.x] > 3)) > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void counted_at_a_barrier(const int *data, int *out) {
    if (__syncthreads_count(data[threadIdx.x] > 3) > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void any_at_a_barrier(const int *data, int *out) {
    if (__syncthreads_or(data[threadIdx.x] > 3)) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

// One thread is enough, and it knows.
__global__ void decided_at_a_barrier(const int *data, int *out) {
    bool mine = threadIdx.x == 0 || data[threadIdx.x] > 3;
    if (__syncthreads_or(mine))
        atomicAdd(out, 1);
}

__global__ void all_at_a_barrier(const int *data, int *out) {
    if (__syncthreads_and(data[threadIdx.x] > 3)) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void reduction_in_shared_memory(const int *data, int *out) {
    __shared__ int sums[THREADS];
    sums[threadIdx.x] = data[threadIdx.x];
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance)
            sums[threadIdx.x] += sums[threadIdx.x + distance];
    }
    if (threadIdx.x == 0 && sums[0] > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

// The last element of the tile is nobody's.
__global__ void edge_of_a_tile(const int *data, int *out) {
    __shared__ int tile[THREADS + 1];
    tile[threadIdx.x] = data[threadIdx.x];
    if (threadIdx.x == 0 && WRONG_OR_RIGHT(0, 1))
        tile[THREADS] = 0;
    __syncthreads();
    if (tile[threadIdx.x + 1] > tile[threadIdx.x]) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void dynamic_tile(int *out, int written) {
    extern __shared__ int dynamic[];
    if (threadIdx.x < written)
        dynamic[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (dynamic[THREADS - 1 - threadIdx.x] > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void histogram(const unsigned char *data, int *out) {
    __shared__ int bins[256];
    for (int i = threadIdx.x; i < WRONG_OR_RIGHT(255, 256); i += THREADS)
        bins[i] = 0;
    __syncthreads();
    atomicAdd(bins + 255 - data[threadIdx.x], 1);
    __syncthreads();
    if (bins[255 - threadIdx.x] > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void count_from_nowhere(int *counter, int *out) {
    int ticket = atomicAdd(counter, 1);
    if (ticket == THREADS - 1) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void swapped(int *place, int *out) {
    int before = atomicExch(place + threadIdx.x, 1);
    if (before == 0) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void compared(int *place, int *out) {
    if (atomicCAS(place + threadIdx.x, 0, 1) == 0) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void added_undefined(const int *data, int *sum) { atomicAdd(sum, data[threadIdx.x]); }

__global__ void sum_of_others(const int *sum, int *out) {
    if (*sum > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__device__ int global_counter;

// Variables of the module are zero.
__global__ void variable(int *out) {
    if (global_counter > 3)
        atomicAdd(out, 1);
}

__global__ void matched(const int *data, int *out) {
    if (__popc(__match_any_sync(ALL, data[threadIdx.x])) > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

template <typename T> T *source() { return WRONG_OR_RIGHT(fresh<T>(THREADS), device<T>(THREADS)); }

int main() {
    int *out = device<int>(1);
    shuffled_down<<<1, THREADS>>>(source<int>(), out);
    shuffled_up<<<1, THREADS>>>(source<int>(), out);
    exchanged<<<1, THREADS>>>(source<int>(), out);
    broadcast_of_the_defined<<<1, THREADS>>>(fresh<int>(THREADS), out);
    voted_any<<<1, THREADS>>>(source<int>(), out);
    voted_all<<<1, THREADS>>>(source<int>(), out);
    ballot<<<1, THREADS>>>(source<int>(), out);
    counted_at_a_barrier<<<1, THREADS>>>(source<int>(), out);
    any_at_a_barrier<<<1, THREADS>>>(source<int>(), out);
    decided_at_a_barrier<<<1, THREADS>>>(fresh<int>(THREADS), out);
    all_at_a_barrier<<<1, THREADS>>>(source<int>(), out);
    reduction_in_shared_memory<<<1, THREADS>>>(source<int>(), out);
    edge_of_a_tile<<<1, THREADS>>>(device<int>(THREADS), out);
    dynamic_tile<<<1, THREADS, THREADS * sizeof(int)>>>(out, WRONG_OR_RIGHT(THREADS - 1, THREADS));
    histogram<<<1, THREADS>>>(device<unsigned char>(THREADS), out);
    count_from_nowhere<<<1, THREADS>>>(source<int>(), out);
    swapped<<<1, THREADS>>>(source<int>(), out);
    compared<<<1, THREADS>>>(source<int>(), out);
    int *sum = device<int>(1);
    added_undefined<<<1, THREADS>>>(source<int>(), sum);
    sum_of_others<<<1, 1>>>(sum, out);
    variable<<<1, THREADS>>>(out);
    matched<<<1, THREADS>>>(source<int>(), out);
    return finish();
}
