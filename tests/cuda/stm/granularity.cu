// Bytes under one lock, by regions: it changes which transactions conflict, and nothing else.

#include "../expect.h"
#include <warpgrind/tx.cuh>

const int WORDS = 1024;

/// Whether a transaction that has read one word is disturbed by another that writes the other word.
__global__ void conflict(int *words, int read, int written, int *result) {
    warpgrind::transaction<> reader, writer;
    int value = 0;
    reader.begin();
    reader.read(&words[read], value);
    writer.begin();
    writer.write(&words[written], 1);
    const bool wrote = writer.commit();
    reader.write(&words[WORDS - 1], 1);
    *result = wrote ? !reader.commit() : -1;
}

static int *result;

/// Elements that share a lock with the first.
int neighbours(int *words) {
    int count = 0;
    for (int i = 0; i < 40; i++) {
        conflict<<<1, 1>>>(words, 0, i, result);
        OK(cudaDeviceSynchronize());
        CHECK(*result == 0 || *result == 1);
        count += *result;
    }
    return count;
}

int main() {
    OK(cudaMallocManaged(&result, sizeof *result));
    int *words[64];
    for (int i = 0; i < 64; i++) OK(cudaMalloc(&words[i], WORDS * sizeof(int)));
    const size_t bytes = WORDS * sizeof(int);

    CHECK(neighbours(words[0]) == 2);
    RETURNS(cudaErrorInvalidValue, warpgrind::set_granularity(words[0], bytes, 2));
    RETURNS(cudaErrorInvalidValue, warpgrind::set_granularity(words[0], bytes, 24));
    OK(warpgrind::set_granularity(words[0], bytes, 4));
    CHECK(neighbours(words[0]) == 1);
    // Other memory keeps what it had.
    CHECK(neighbours(words[1]) == 2);
    OK(warpgrind::set_granularity(words[0], bytes, 64));
    CHECK(neighbours(words[0]) == 16);

    // In an order that is not that of their addresses.
    for (int i = 0; i < 64; i++) {
        const int region = i * 37 % 64;
        OK(warpgrind::set_granularity(words[region], bytes, region % 2 ? 4 : 32));
    }
    for (int i : {0, 1, 30, 31, 62, 63}) CHECK(neighbours(words[i]) == (i % 2 ? 1 : 8));
    // There are no more than 64, and they do not overlap.
    RETURNS(cudaErrorInvalidValue, warpgrind::set_granularity(&words[0][8], 64, 8));
    int *more;
    OK(cudaMalloc(&more, bytes));
    RETURNS(cudaErrorInvalidValue, warpgrind::set_granularity(more, bytes, 8));
    CHECK(neighbours(more) == 2);
    return done();
}
