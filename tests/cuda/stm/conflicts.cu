// All threads want the same words: lanes of a warp, warps, blocks; in the same order and in opposite orders.
//@ variants: static G clang

#include "../expect.h"
#include <warpgrind/tx.cuh>

__global__ void one_word(int *counter) {
    warpgrind::atomically([&](warpgrind::tx &t) { t.write(counter, t.read(counter) + 1); });
}

__global__ void opposite_orders(long long *a, long long *b) {
    warpgrind::atomically([&](warpgrind::tx &t) {
        if (threadIdx.x % 2 == 0) {
            t.write(a, t.read(a) + 1);
            t.write(b, t.read(b) - 1);
        } else {
            t.write(b, t.read(b) - 1);
            t.write(a, t.read(a) + 1);
        }
    });
}

/// Each lane moves one from its word to that of the next lane, around the warp.
__global__ void around(int *words) {
    const int lane = threadIdx.x % 32, next = (lane + 1) % 32;
    for (int round = 0; round < 2; round++) {
        warpgrind::atomically([&](warpgrind::tx &t) {
            t.write(&words[lane], t.read(&words[lane]) - 1);
            t.write(&words[next], t.read(&words[next]) + 1);
        });
    }
}

/// A long transaction among short ones: it commits all the same.
__global__ void long_and_short(int *words, int count, int *result) {
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        int sum = 0;
        warpgrind::atomically([&](warpgrind::tx &t) {
            sum = 0;
            for (int i = 0; i < count; i++) sum += t.read(&words[i]);
            t.write(result, sum);
        });
    } else {
        for (int i = 0; i < 5; i++) {
            int *word = &words[(threadIdx.x * 7 + i) % count], *other = &words[(threadIdx.x * 3 + i + 1) % count];
            if (word == other) continue;
            warpgrind::atomically([&](warpgrind::tx &t) {
                t.write(word, t.read(word) + 1);
                t.write(other, t.read(other) - 1);
            });
        }
    }
}

int main() {
    int *words, *result;
    long long *a;
    OK(cudaMallocManaged(&words, 200 * sizeof(int)));
    OK(cudaMallocManaged(&result, sizeof(int)));
    OK(cudaMallocManaged(&a, 20 * sizeof(long long)));
    words[0] = 0;
    one_word<<<3, 40>>>(words);
    OK(cudaDeviceSynchronize());
    CHECK(words[0] == 3 * 40);

    a[0] = a[10] = 0;
    opposite_orders<<<2, 40>>>(&a[0], &a[10]);
    OK(cudaDeviceSynchronize());
    CHECK(a[0] == 2 * 40 && a[10] == -2 * 40);

    for (int i = 0; i < 32; i++) words[i] = 100;
    around<<<1, 64>>>(words);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) CHECK(words[i] == 100);

    // More words than a transaction remembers, and fewer.
    for (int count : {50, 200}) {
        for (int i = 0; i < count; i++) words[i] = 1;
        *result = -1;
        long_and_short<<<2, 32>>>(words, count, result);
        OK(cudaDeviceSynchronize());
        CHECK(*result == count);
    }
    return done();
}
