//@ bugs: frees and copies what is not there
// Memory is given and taken back, what is free is counted, and wrong pointers are refused.
//@ variants: static shared ptds clang

#include "../expect.h"

int main() {
    size_t before = 0, during = 0, after = 0, total = 0;
    OK(cudaFree(nullptr));
    OK(cudaMemGetInfo(&before, &total));
    char *p, *q;
    OK(cudaMalloc(&p, 64 << 20));
    OK(cudaMemGetInfo(&during, &total));
    CHECK(during <= before - (64 << 20));
    CHECK((size_t)p % 256 == 0);
    OK(cudaMalloc(&q, 1));
    CHECK((size_t)q % 256 == 0 && p != q);
    OK(cudaFree(q));
    OK(cudaFree(p));
    OK(cudaMemGetInfo(&after, &total));
    CHECK(after == before);

    RETURNS(cudaErrorInvalidValue, cudaFree(p)); // Again.
    RETURNS(cudaErrorInvalidValue, cudaGetLastError());
    int on_stack;
    RETURNS(cudaErrorInvalidValue, cudaFree(&on_stack));
    RETURNS(cudaErrorInvalidValue, cudaFree((void *)0x1234));
    OK(cudaMalloc(&p, 1024));
    RETURNS(cudaErrorInvalidValue, cudaFree(p + 256)); // Not its start.
    RETURNS(cudaErrorInvalidValue, cudaFreeHost(p));
    OK(cudaFree(p));

    RETURNS(cudaErrorMemoryAllocation, cudaMalloc(&p, total + 1));
    RETURNS(cudaErrorMemoryAllocation, cudaMalloc(&p, (size_t)-1));
    RETURNS(cudaErrorMemoryAllocation, cudaGetLastError());
    OK(cudaGetLastError());
    RETURNS(cudaErrorInvalidValue, cudaMalloc((void **)nullptr, 1));
    p = (char *)1;
    OK(cudaMalloc(&p, 0));
    CHECK(p == nullptr);
    OK(cudaMalloc(&p, 1024)); // Errors of the host do not last.
    OK(cudaFree(p));

    // Memory that is freed can be had again, as often as one likes.
    for (int i = 0; i < 200; i++) {
        OK(cudaMalloc(&p, total / 4));
        OK(cudaFree(p));
    }
    OK(cudaMemGetInfo(&after, &total));
    CHECK(after == before);
    return done();
}
