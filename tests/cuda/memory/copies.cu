//@ bugs: frees and copies what is not there
// All directions of a copy, also the default one, between all kinds of memory; and wrong directions.
//@ variants: static shared ptds clang

#include "../expect.h"
#include <cstring>

int main() {
    const int bytes = 1000;
    char from[bytes], to[bytes], *first, *second, *pinned, *managed;
    for (int i = 0; i < bytes; i++) from[i] = (char)(i * 7);
    OK(cudaMalloc(&first, bytes));
    OK(cudaMalloc(&second, bytes));
    OK(cudaMallocHost(&pinned, bytes));
    OK(cudaMallocManaged(&managed, bytes));

    OK(cudaMemcpy(first, from, bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(second, first, bytes, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(pinned, second, bytes, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(managed, pinned, bytes, cudaMemcpyDefault));
    OK(cudaMemcpy(to, managed, bytes, cudaMemcpyDefault));
    CHECK(memcmp(from, to, bytes) == 0);
    memset(to, 0, bytes);
    OK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToHost));
    CHECK(memcmp(from, to, bytes) == 0);
    memset(to, 0, bytes);
    OK(cudaMemcpy(first + 100, from, 5, cudaMemcpyDefault));
    OK(cudaMemcpy(to, first + 98, 9, cudaMemcpyDefault));
    CHECK(to[2] == from[0] && to[6] == from[4] && to[7] == from[105] && to[0] == from[98]);
    OK(cudaMemcpyPeer(second, 0, first, 0, bytes));
    OK(cudaMemcpyPeerAsync(second, 0, first, 0, bytes, nullptr));
    RETURNS(cudaErrorInvalidDevice, cudaMemcpyPeer(second, 1, first, 0, bytes));
    OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault));

    // Wrong: directions, lengths, pointers. What was there stays.
    RETURNS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(first, from, bytes, (cudaMemcpyKind)9));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy(from, to, bytes, cudaMemcpyDeviceToDevice));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy(first, from, bytes + 1000000, cudaMemcpyHostToDevice));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy(first + 1, second, bytes, cudaMemcpyDeviceToDevice));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy(nullptr, from, bytes, cudaMemcpyHostToDevice));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy(to, nullptr, bytes, cudaMemcpyDeviceToHost));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy(first, nullptr, bytes, cudaMemcpyHostToDevice));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy(nullptr, first, bytes, cudaMemcpyDeviceToHost));
    RETURNS(cudaErrorInvalidValue, cudaMemcpyAsync(first, nullptr, bytes, cudaMemcpyHostToDevice, nullptr));
    RETURNS(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaMemcpy(to, first, 100, cudaMemcpyDeviceToHost));
    CHECK(memcmp(from, to, 100) == 0);
    OK(cudaFree(second));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy(to, second, bytes, cudaMemcpyDeviceToHost));
    return done();
}
