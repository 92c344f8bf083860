// With NDEBUG an assertion is nothing.
//@ build: -DNDEBUG

#include "../expect.h"
#include <cassert>

__global__ void never() { assert(false); }

int main() {
    never<<<1, 32>>>();
    OK(cudaDeviceSynchronize());
    return done();
}
