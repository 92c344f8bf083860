// What the programs here check with: they say what is wrong and return 1.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) EXPECT(call, cudaSuccess)
#define EXPECT(call, wanted)                                                                              \
    do {                                                                                                  \
        cudaError_t found = (call);                                                                       \
        if (found != (wanted)) {                                                                          \
            printf("line %d: %s is %s, not %s\n", __LINE__, #call, cudaGetErrorName(found),               \
                   cudaGetErrorName(wanted));                                                             \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)
#define REQUIRE(condition)                                                                                \
    do {                                                                                                  \
        if (!(condition)) {                                                                               \
            printf("line %d: %s does not hold\n", __LINE__, #condition);                                  \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)
