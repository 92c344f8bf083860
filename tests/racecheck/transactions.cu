#include "../memcheck/memcheck.h"
#include <warpgrind/tx.cuh>

// Transactions, and accesses to the same memory outside of them.

__device__ int words[64];

// A read outside of transactions, while others write.
__global__ void plain_read(int *sum) {
    if (blockIdx.x == 0) {
        warpgrind::atomically([&](warpgrind::tx &t) { t.write(&words[threadIdx.x], t.read(&words[threadIdx.x]) + 1); });
    } else if (threadIdx.x == 0) {
        int first = 0;
        if (WRONG_OR_RIGHT(true, false))
            first = words[0]; //~ ERROR data-race
        else
            warpgrind::atomically([&](warpgrind::tx &t) { first = t.read(&words[0]); });
        *sum = first;
    }
}

// A write outside of transactions, to a word that others only read.
__global__ void plain_write(int *sum) {
    if (blockIdx.x == 0) {
        int all = 0;
        warpgrind::atomically([&](warpgrind::tx &t) {
            all = 0;
            for (int i = 0; i < 4; i++) all += t.read(&words[i]);
        });
        if (threadIdx.x == 0) *sum = all;
    } else if (threadIdx.x == 0) {
        if (WRONG_OR_RIGHT(true, false))
            words[2] = 5; //~ ERROR data-race
        else
            warpgrind::atomically([&](warpgrind::tx &t) { t.write(&words[2], 5); });
    }
}

// What a thread has prepared, published by a transaction, or by a plain write beside one.
__global__ void publish(int *data, int **published, int *found) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 7;
        __syncthreads();
        if (threadIdx.x == 0) {
            if (WRONG_OR_RIGHT(true, false))
                *(int *volatile *)published = data;
            else
                warpgrind::atomically([&](warpgrind::tx &t) { t.write(published, data); });
        }
    } else if (threadIdx.x == 0) {
        int *seen = nullptr;
        if (WRONG_OR_RIGHT(true, false))
            seen = *(int *volatile *)published; //~ ERROR data-race
        else
            warpgrind::atomically([&](warpgrind::tx &t) { seen = t.read(published); });
        if (seen != nullptr) *found = seen[0]; //~ ERROR data-race
    }
}

int main() {
    int *sum = device<int>(1), *data = device<int>(64), **published = device<int *>(1);
    plain_read<<<2, 4>>>(sum);
    plain_write<<<2, 4>>>(sum);
    publish<<<2, 4>>>(data, published, sum);
    return finish();
}
