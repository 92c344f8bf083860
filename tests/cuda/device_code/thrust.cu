// Thrust: sorting, reducing and transforming vectors of the device.

#include "../expect.h"
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct Twice {
    __host__ __device__ int operator()(int x) const { return 2 * x; }
};

int main() {
    const int n = 5000;
    thrust::host_vector<int> host(n);
    unsigned state = 1;
    for (int i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        host[i] = (int)(state >> 12) % 1000;
    }
    long long expected = 0;
    for (int value : host) expected += value;
    thrust::device_vector<int> device = host;
    CHECK(thrust::reduce(device.begin(), device.end(), 0LL) == expected);
    thrust::sort(device.begin(), device.end());
    thrust::host_vector<int> sorted = device;
    for (int i = 1; i < n; i++) CHECK(sorted[i - 1] <= sorted[i]);
    CHECK(thrust::reduce(sorted.begin(), sorted.end(), 0LL) == expected);
    thrust::transform(device.begin(), device.end(), device.begin(), Twice());
    CHECK(thrust::reduce(device.begin(), device.end(), 0LL) == 2 * expected);
    return done();
}
