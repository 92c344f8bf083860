//@ architecture: clang-11
//@ build: -Wno-deprecated-declarations
#include "memcheck.h"

// Texture references of CUDA 11: twice the memory that there is, and rows of which the last goes past the end.
texture<float, 1> line;
texture<float, 2> plane;

__global__ void fetch(float *out) { out[threadIdx.x] = tex1Dfetch(line, threadIdx.x); }

int main() {
    float *data = device<float>(1 << 20), *out = device<float>(32);
    size_t offset;
    cudaBindTexture(&offset, line, data, WRONG_OR_RIGHT(8 << 20, 4 << 20)); //~ ERROR invalid-binding
    // With nothing said, all there is.
    OK(cudaBindTexture(&offset, line, data));
    fetch<<<1, 32>>>(out);
    cudaBindTexture2D(&offset, plane, data, 1024, WRONG_OR_RIGHT(1025, 1024), 4096); //~ ERROR invalid-binding
    return finish();
}
