// What the programs of this directory share. Each ends with 0 if its results are right: never without transactions, always
// under `warpgrind stm`, and with FIXED, when the same is written with `atomically` or without what is refused, always.
#include <cstdio>
#include <cstdlib>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            printf("%s: %s\n", #call, cudaGetErrorName(error));                                                        \
            exit(3);                                                                                                   \
        }                                                                                                              \
    } while (0)

// Memory that both sides access, all zero.
template <typename T> T *managed(size_t count) {
    T *pointer;
    OK(cudaMallocManaged(&pointer, count * sizeof(T)));
    OK(cudaMemset(pointer, 0, count * sizeof(T)));
    OK(cudaDeviceSynchronize());
    return pointer;
}

inline int check(bool is_right, const char *what) {
    if (!is_right) printf("wrong: %s\n", what);
    return is_right ? 0 : 1;
}

__device__ inline unsigned next_random(unsigned &state) { return (state = state * 1664525 + 1013904223) >> 8; }
