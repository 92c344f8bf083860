// What the programs of this directory share. With FIXED, a program is as it should have been.
#include <cstdio>
#include <cstdlib>

#ifdef FIXED
#define WRONG_OR_RIGHT(wrong, right) (right)
#else
#define WRONG_OR_RIGHT(wrong, right) (wrong)
#endif

// Ends the program if a call fails.
#define OK(call)                                                                                                       \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            printf("%s: %s\n", #call, cudaGetErrorName(error));                                                        \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// Says how the kernels ended.
inline int finish() {
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

// New memory of the device, all zero.
template <typename T> T *device(size_t count) {
    T *pointer;
    OK(cudaMalloc(&pointer, count * sizeof(T)));
    OK(cudaMemset(pointer, 0, count * sizeof(T)));
    return pointer;
}

// New memory of the device, in which nothing was written.
template <typename T> T *fresh(size_t count) {
    T *pointer;
    OK(cudaMalloc(&pointer, count * sizeof(T)));
    return pointer;
}

// Where a variable of the device is.
template <typename T> T *address_of(T (&variable)[32]) {
    void *pointer;
    OK(cudaGetSymbolAddress(&pointer, variable));
    return (T *)pointer;
}
