// The same work in launches of all shapes: every element is changed once, where data says, so that nothing is proved.
// Arguments: blocks, threads of a block.
#include "../bench.h"

__global__ void scatter(const int *places, int *data, int n) {
    // Each block has a part of its own, so that all shapes go through memory in the same order.
    int part = n / gridDim.x;
    for (int i = threadIdx.x; i < part; i += blockDim.x)
        data[places[blockIdx.x * part + i]] += blockIdx.x * part + i;
}

int main(int, char **arguments) {
    const int n = 1 << 23, blocks = atoi(arguments[1]), threads = atoi(arguments[2]);
    std::vector<int> places(n), zeros(n), expected(n);
    for (int i = 0; i < n; i++) {
        places[i] = i ^ 5;
        expected[i ^ 5] = i;
    }
    Buffer<int> device_places(places), device_data(zeros);
    measure([&] { device_data.write(zeros); }, [&] { LAUNCH(scatter, blocks, threads, device_places, device_data, n); },
            [&] { expect("data", device_data.read(), expected, 0); });
}
