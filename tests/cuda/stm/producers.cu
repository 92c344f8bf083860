// Ten producers and twenty consumers around a buffer, as many values come out as went in: elements and counters differ in type.
//@ variants: static clang
//@ tools: no

#include "../expect.h"
#include <warpgrind/tx.cuh>

const int PRODUCERS = 10, CONSUMERS = 20, CAPACITY = 16;

struct Buffer {
    unsigned count;
    short finished;
    double element[CAPACITY];
};

struct Sums {
    unsigned long long produced, consumed, taken;
};

__device__ void produce(Buffer *buffer, Sums *sums, int values) {
    for (int i = 0; i < values; i++) {
        const double value = threadIdx.x * values + i;
        while (!warpgrind::atomically([&](warpgrind::tx &t) {
            const unsigned count = t.read(&buffer->count);
            if (count == CAPACITY) t.abort();
            t.write(&buffer->element[count], value);
            t.write(&buffer->count, count + 1);
        })) {
            __nanosleep(100);
        }
        atomicAdd(&sums->produced, (unsigned long long)value);
    }
    warpgrind::atomically([&](warpgrind::tx &t) { t.write(&buffer->finished, short(t.read(&buffer->finished) + 1)); });
}

__device__ void consume(Buffer *buffer, Sums *sums) {
    for (bool is_over = false; !is_over;) {
        double value = 0;
        const bool has_taken = warpgrind::atomically([&](warpgrind::tx &t) {
            const unsigned count = t.read(&buffer->count);
            is_over = count == 0 && t.read(&buffer->finished) == PRODUCERS;
            if (count == 0) t.abort();
            value = t.read(&buffer->element[count - 1]);
            t.write(&buffer->count, count - 1);
        });
        if (has_taken) {
            atomicAdd(&sums->consumed, (unsigned long long)value);
            atomicAdd(&sums->taken, 1);
        } else {
            __nanosleep(100);
        }
    }
}

__global__ void run(Buffer *buffer, Sums *sums, int values) {
    if (threadIdx.x < PRODUCERS) {
        produce(buffer, sums, values);
    } else {
        consume(buffer, sums);
    }
}

int main(int argc, char **argv) {
    const int values = argc > 1 ? atoi(argv[1]) : 200;
    Buffer *buffer;
    Sums *sums;
    OK(cudaMallocManaged(&buffer, sizeof *buffer));
    OK(cudaMallocManaged(&sums, sizeof *sums));
    *buffer = {};
    *sums = {};
    run<<<1, PRODUCERS + CONSUMERS>>>(buffer, sums, values);
    OK(cudaDeviceSynchronize());
    CHECK(sums->produced == sums->consumed);
    CHECK(sums->taken == 1ull * PRODUCERS * values);
    CHECK(buffer->count == 0 && buffer->finished == PRODUCERS);
    return done();
}
