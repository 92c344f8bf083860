// Indices and pointers that nobody has written.
#include "memcheck.h"

__global__ void gather(const unsigned *index, const int *in, int *out) {
    out[threadIdx.x] = in[index[threadIdx.x] & 31]; //~ ERROR undefined-address
}

__global__ void histogram(const unsigned char *in, int *bins) {
    atomicAdd(&bins[in[threadIdx.x]], 1); //~ ERROR undefined-address
}

struct Row {
    int *data;
    int n;
};

__global__ void through(const Row *row, int *out) {
    out[0] = row->data[0]; //~ ERROR undefined-address
}

int main() {
    unsigned *index = fresh<unsigned>(32);
    if (WRONG_OR_RIGHT(0, 1)) cudaMemset(index, 0, 128);
    int *out = device<int>(256);
    gather<<<1, 32>>>(index, device<int>(32), out);
    histogram<<<1, 32>>>((unsigned char *)index, out);
    Row *row = fresh<Row>(1);
    int *data = device<int>(4);
    cudaMemcpy(row, &data, WRONG_OR_RIGHT(6, 8), cudaMemcpyHostToDevice);
    through<<<1, 1>>>(row, out);
    return finish();
}
