// Variables of the device: their sizes, addresses and values, with offsets, and what is wrong with others.
//@ variants: static shared sm_75 sm_90 rdc G ptds

#include "../expect.h"

__device__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ double factor = 1.5;
__device__ float unset[4];
__managed__ int shared_with_host = 17;
static __device__ short hidden = 3;
struct Point { float x, y; };
__device__ Point point = {1.0f, 2.0f};
int on_the_host;

__global__ void use(double *out) {
    out[0] = table[3] * factor + hidden;
    out[1] = point.x + point.y + unset[2];
    shared_with_host += 1;
}

int main() {
    size_t bytes = 0;
    OK(cudaGetSymbolSize(&bytes, table));
    CHECK(bytes == sizeof table);
    OK(cudaGetSymbolSize(&bytes, factor));
    CHECK(bytes == sizeof factor);
    void *address = nullptr;
    OK(cudaGetSymbolAddress(&address, table));
    CHECK(address != nullptr);
    RETURNS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, on_the_host));
    RETURNS(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, on_the_host));

    int copy[8] = {};
    OK(cudaMemcpyFromSymbol(copy, table, sizeof copy));
    for (int i = 0; i < 8; i++) CHECK(copy[i] == i + 1);
    int two[2] = {30, 40};
    OK(cudaMemcpyToSymbol(table, two, sizeof two, 2 * sizeof(int)));
    OK(cudaGetSymbolAddress(&address, table));
    OK(cudaMemcpy(copy, address, sizeof copy, cudaMemcpyDeviceToHost));
    CHECK(copy[1] == 2 && copy[2] == 30 && copy[3] == 40 && copy[4] == 5);
    RETURNS(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, two, sizeof two, 7 * sizeof(int)));
    RETURNS(cudaErrorInvalidValue, cudaMemcpyFromSymbol(copy, table, sizeof table + 1));

    double half = 0.5, *out, results[2] = {};
    OK(cudaMemcpyToSymbolAsync(factor, &half, sizeof half, 0, cudaMemcpyHostToDevice, nullptr));
    float one = 1.0f;
    OK(cudaMemcpyToSymbol(unset, &one, sizeof one, 2 * sizeof(float)));
    OK(cudaMalloc(&out, sizeof results));
    CHECK(shared_with_host == 17);
    use<<<1, 1>>>(out);
    OK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    CHECK(results[0] == 23.0);
    CHECK(results[1] == 4.0);
    CHECK(shared_with_host == 18);
    shared_with_host = 100;
    use<<<1, 1>>>(out);
    OK(cudaDeviceSynchronize());
    CHECK(shared_with_host == 101);
    return done();
}
