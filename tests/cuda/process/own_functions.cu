// A program with functions of its own that are named like those of CUDA is left alone.

#include "../expect.h"

static int calls = 0;
extern "C" {
int cudaCheck(int error) { return calls++, error; }
int cudaErrorCheck() { return calls++, 5; }
void cuInitialize() { calls++; }
}

__global__ void nothing() {}

int main() {
    cuInitialize();
    nothing<<<1, 1>>>();
    CHECK(cudaCheck(cudaDeviceSynchronize()) == 0);
    CHECK(cudaErrorCheck() == 5);
    CHECK(calls == 3);
    return done();
}
