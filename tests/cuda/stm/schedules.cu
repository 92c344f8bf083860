// Few threads and many preemptions: sums, pairs that are always equal, and no write skew, in every schedule.
//@ tools: no
//@ variants: static
//@ run: --schedule random --preempt --width 1
//@ seeds: 6

#include "../expect.h"
#include <warpgrind/tx.cuh>

struct Shared {
    int counter;
    int pair[2][8];
    int duty[2][8];
    int wrong;
};

/// Small logs, so that some transactions become irrevocable.
template <unsigned Reads, unsigned Writes> __device__ void work(Shared *shared) {
    const int me = threadIdx.x % 2;
    for (int round = 0; round < 3; round++) {
        warpgrind::atomically<Reads, Writes>(
            [&](auto &t) { t.write(&shared->counter, t.read(&shared->counter) + 1); });
        warpgrind::atomically<Reads, Writes>([&](auto &t) {
            const int first = t.read(&shared->pair[0][0]), second = t.read(&shared->pair[1][0]);
            if (first != second) atomicAdd(&shared->wrong, 1);
            t.write(&shared->pair[me][0], first + 1);
            t.write(&shared->pair[1 - me][0], second + 1);
        });
        // The counter is newer than the pair most of the time, so that the snapshot has to be extended.
        warpgrind::atomically<Reads, Writes>([&](auto &t) {
            const int first = t.read(&shared->pair[0][0]);
            t.read(&shared->counter);
            if (first != t.read(&shared->pair[1][0])) atomicAdd(&shared->wrong, 1);
        });
        // Nobody sees what is given up.
        warpgrind::atomically<Reads, Writes>([&](auto &t) {
            t.write(&shared->pair[0][0], -1);
            t.write(&shared->pair[1][0], -2);
            t.abort();
        });
        // One may go off duty if the other is on.
        warpgrind::atomically<Reads, Writes>([&](auto &t) {
            if (t.read(&shared->duty[1 - me][0]) == 0) t.abort();
            t.write(&shared->duty[me][0], 0);
        });
        warpgrind::atomically<Reads, Writes>([&](auto &t) {
            if (t.read(&shared->duty[0][0]) + t.read(&shared->duty[1][0]) == 0) atomicAdd(&shared->wrong, 1);
            t.write(&shared->duty[me][0], 1);
        });
    }
}

__global__ void kernel(Shared *shared) {
    if (threadIdx.x < 4) {
        work<64, 32>(shared);
    } else if (threadIdx.x < 6) {
        work<64, 1>(shared);
    } else {
        work<1, 32>(shared);
    }
}

int main() {
    Shared *shared;
    OK(cudaMallocManaged(&shared, sizeof *shared));
    for (int launch = 0; launch < 2; launch++) {
        *shared = {};
        shared->duty[0][0] = shared->duty[1][0] = 1;
        kernel<<<1, 8>>>(shared);
        OK(cudaDeviceSynchronize());
        CHECK(shared->counter == 8 * 3);
        CHECK(shared->pair[0][0] == 8 * 3 && shared->pair[1][0] == 8 * 3);
        CHECK(shared->wrong == 0);
    }
    return done();
}
