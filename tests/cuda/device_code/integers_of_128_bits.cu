// Integers of 128 bits are added, multiplied, divided and compared as on the host.

#include "../expect.h"

typedef unsigned __int128 wide;
typedef __int128 signed_wide;

struct Results {
    wide sum, difference, product, quotient, remainder;
    signed_wide signed_quotient, signed_remainder;
    bool is_less;
};

__host__ __device__ Results compute(wide a, wide b) {
    Results r;
    r.sum = a + b;
    r.difference = a - b;
    r.product = a * b;
    r.quotient = a / b;
    r.remainder = a % b;
    r.signed_quotient = (signed_wide)a / (signed_wide)b;
    r.signed_remainder = (signed_wide)a % (signed_wide)b;
    r.is_less = a < b;
    return r;
}

__global__ void kernel(const wide *values, int count, Results *results) {
    int i = blockIdx.x, j = threadIdx.x;
    results[i * count + j] = compute(values[i], values[j]);
}

int main() {
    const int count = 24;
    wide *values;
    Results *results;
    OK(cudaMallocManaged(&values, count * sizeof(wide)));
    OK(cudaMallocManaged(&results, count * count * sizeof(Results)));
    unsigned long long state = 1;
    for (int i = 0; i < count; i++) {
        auto next = [&] { return state = state * 6364136223846793005ull + 1442695040888963407ull; };
        wide random = (wide)next() << 64 | next();
        const wide first[] = {1, 3, 7, 10, (wide)1 << 64, ((wide)1 << 64) + 5, ~(wide)0, (wide)1 << 126};
        values[i] = i < 8 ? first[i] : random >> (i * 5 % 127) | 1;
    }
    kernel<<<count, count>>>(values, count, results);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            Results wanted = compute(values[i], values[j]), found = results[i * count + j];
            CHECK(found.sum == wanted.sum && found.difference == wanted.difference);
            CHECK(found.product == wanted.product && found.is_less == wanted.is_less);
            CHECK(found.quotient == wanted.quotient && found.remainder == wanted.remainder);
            CHECK(found.signed_quotient == wanted.signed_quotient);
            CHECK(found.signed_remainder == wanted.signed_remainder);
        }
    return done();
}
