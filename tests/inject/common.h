// What the programs share: buffers of 64 numbers.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void ok(cudaError_t error) {
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        exit(3);
    }
}

struct Numbers {
    int *data;
    Numbers(int value) {
        ok(cudaMalloc(&data, 64 * sizeof(int)));
        std::vector<int> values(64, value);
        ok(cudaMemcpy(data, values.data(), 64 * sizeof(int), cudaMemcpyHostToDevice));
    }
    std::vector<int> read() const {
        std::vector<int> values(64);
        ok(cudaMemcpy(values.data(), data, 64 * sizeof(int), cudaMemcpyDeviceToHost));
        return values;
    }
};
