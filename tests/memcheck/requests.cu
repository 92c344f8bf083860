#include "memcheck.h"
#include <warpgrind/requests.h>

// What a program says of its memory: that it is undefined again, that nobody may access it.
__global__ void count(const int *data, int *out) {
    if (data[threadIdx.x] > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void fill(int *data) {
    data[threadIdx.x] = threadIdx.x; //~ ERROR not-permitted
}

int main() {
    int *data = device<int>(32), *out = device<int>(32);
    count<<<1, 32>>>(data, out);
    WARPGRIND_MARK_UNDEFINED(data, 32 * sizeof(int));
    if (WRONG_OR_RIGHT(0, 1))
        WARPGRIND_MARK_DEFINED(data, 32 * sizeof(int));
    count<<<1, 32>>>(data, out);
    OK(cudaDeviceSynchronize());
    int *kept = device<int>(32);
    fill<<<1, 32>>>(kept);
    WARPGRIND_MARK_NO_ACCESS(kept);
    if (WRONG_OR_RIGHT(0, 1))
        WARPGRIND_MARK_ACCESSIBLE(kept);
    fill<<<1, 32>>>(kept);
    printf("at work: %u\n", WARPGRIND_IS_AT_WORK());
    return finish();
}
