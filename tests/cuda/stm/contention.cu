// Many threads and few words: every transaction commits, on one worker and on several, in bounded time.
//@ variants: static
//@ tools: no

#include "../expect.h"
#include <warpgrind/tx.cuh>

__global__ void transfer(int *account, int accounts, int rounds) {
    unsigned random = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345;
    for (int round = 0; round < rounds; round++) {
        random = random * 1664525u + 1013904223u;
        const int from = (random >> 8) % accounts;
        random = random * 1664525u + 1013904223u;
        const int to = (from + 1 + (random >> 8) % (accounts - 1)) % accounts;
        warpgrind::atomically([&](warpgrind::tx &t) {
            t.write(&account[from], t.read(&account[from]) - 1);
            t.write(&account[to], t.read(&account[to]) + 1);
        });
    }
}

int main() {
    for (int accounts : {2, 10, 1000, 100000}) {
        int *account;
        OK(cudaMallocManaged(&account, accounts * sizeof(int)));
        for (int i = 0; i < accounts; i++) account[i] = 5;
        transfer<<<40, 128>>>(account, accounts, 5);
        OK(cudaDeviceSynchronize());
        long long total = 0;
        for (int i = 0; i < accounts; i++) total += account[i];
        CHECK(total == 5ll * accounts);
        OK(cudaFree(account));
    }
    return done();
}
