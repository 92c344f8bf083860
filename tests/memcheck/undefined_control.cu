#include "memcheck.h"

// Where undefined values decide: branches, guards, loops, addresses. And where they decide nothing.
const int THREADS = 32;

__device__ int twice(int x) { return 2 * x; }

__device__ int thrice(int x) { return 3 * x; }

__global__ void bound_of_a_loop(const int *bounds, int *out) {
    int sum = 0;
    for (int i = 0; i < bounds[threadIdx.x] && i < 100; ++i) //~ ERROR undefined-branch
        sum += out[i % THREADS];
    out[threadIdx.x] = sum;
}

__global__ void kind_of_case(const int *kinds, int *out) {
    switch (kinds[threadIdx.x]) { //~ ERROR undefined-branch
    case 0:
        atomicAdd(out, 1);
        break;
    case 1:
        atomicSub(out, 2);
        break;
    case 2:
        atomicMax(out, 3);
        break;
    default:
        atomicMin(out, 4);
    }
}

__global__ void early_return(const int *flags, int *out) {
    if (flags[threadIdx.x] == 0) //~ ERROR undefined-branch
        return;
    atomicAdd(out, 1);
}

__global__ void second_condition(const int *first, const int *second, int *out) {
    if (first[threadIdx.x] == 0 && second[threadIdx.x] == 0) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

// The first condition is false, so that nobody asks for the second.
__global__ void second_condition_not_asked(const int *first, const int *second, int *out) {
    if (first[threadIdx.x] != 0 && second[threadIdx.x] == 0)
        atomicAdd(out, 1);
}

__global__ void search(const int *keys, int *out) {
    int low = 0, high = THREADS;
    while (low < high) { //~ ERROR undefined-branch
        int middle = (low + high) / 2;
        if (keys[middle] < (int)threadIdx.x) //~ ERROR undefined-address
            low = middle + 1;
        else
            high = middle;
    }
    out[threadIdx.x] = low;
}

// Which of two it is does not matter to anything but the result.
__global__ void chosen(const int *flags, int *out) {
    int value = flags[threadIdx.x] > 0 ? 1 : 2;
    out[threadIdx.x] = value;
}

__global__ void which_function(const int *which, int *out) {
    int (*function)(int) = which[threadIdx.x] ? twice : thrice;
    out[threadIdx.x] = function(threadIdx.x); //~ ERROR undefined-address
}

__global__ void index_from_memory(const int *indices, int *out) {
    int index = indices[threadIdx.x] & (THREADS - 1);
    out[index] = 1; //~ ERROR undefined-address
}

__global__ void pointer_from_memory(int *const *pointers, int *out) {
    int *pointer = pointers[threadIdx.x];
    if (threadIdx.x > 40)
        out[threadIdx.x] = *pointer;
    out[threadIdx.x] = 1;
}

__global__ void sum_decides(const float *data, int *out) {
    float sum = 0;
    for (int i = 0; i < THREADS; ++i)
        sum += data[i];
    if (sum > 1) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

// What is undefined is multiplied away by nothing: a mask decides, and the rest is not used.
__global__ void masked_sum(const int *data, const int *mask, int *out) {
    int sum = 0;
    for (int i = 0; i < THREADS; ++i)
        if (mask[i])
            sum += data[i];
    if (sum > 1)
        atomicAdd(out, 1);
}

__global__ void most(const int *data, int *out) {
    int most = 0;
    for (int i = 0; i < THREADS; ++i)
        most = max(most, data[i]);
    if (most > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void ones(const unsigned *data, int *out) {
    if (__popc(data[threadIdx.x]) > 16) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void first_one(const unsigned *data, int *out) {
    if (__ffs(data[threadIdx.x]) > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

// All bits that are undefined are shifted out.
__global__ void high_half(unsigned *data, int *out) {
    ((unsigned short *)data)[2 * threadIdx.x + 1] = 7;
    if (data[threadIdx.x] >> 16 == 7)
        atomicAdd(out, 1);
}

__global__ void low_half(unsigned *data, int *out) {
    ((unsigned short *)data)[2 * threadIdx.x + WRONG_OR_RIGHT(1, 0)] = 7;
    if ((data[threadIdx.x] & 0xffff) == 7) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

template <typename T> T *source() { return WRONG_OR_RIGHT(fresh<T>(THREADS), device<T>(THREADS)); }

int main() {
    int *out = device<int>(THREADS);
    bound_of_a_loop<<<1, THREADS>>>(source<int>(), out);
    kind_of_case<<<1, THREADS>>>(source<int>(), out);
    early_return<<<1, THREADS>>>(source<int>(), out);
    second_condition<<<1, THREADS>>>(device<int>(THREADS), source<int>(), out);
    second_condition_not_asked<<<1, THREADS>>>(device<int>(THREADS), fresh<int>(THREADS), out);
    search<<<1, THREADS>>>(source<int>(), out);
    chosen<<<1, THREADS>>>(fresh<int>(THREADS), fresh<int>(THREADS));
    which_function<<<1, THREADS>>>(source<int>(), out);
    index_from_memory<<<1, THREADS>>>(source<int>(), out);
    pointer_from_memory<<<1, THREADS>>>(fresh<int *>(THREADS), out);
    sum_decides<<<1, THREADS>>>(source<float>(), out);
    masked_sum<<<1, THREADS>>>(fresh<int>(THREADS), device<int>(THREADS), out);
    most<<<1, THREADS>>>(source<int>(), out);
    ones<<<1, THREADS>>>(source<unsigned>(), out);
    first_one<<<1, THREADS>>>(source<unsigned>(), out);
    high_half<<<1, THREADS>>>(fresh<unsigned>(THREADS), out);
    low_half<<<1, THREADS>>>(fresh<unsigned>(THREADS), out);
    return finish();
}
