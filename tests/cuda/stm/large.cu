// More words than an irrevocable transaction lists: it finds its locks in the table, and only aborting is impossible.
//@ tools: no

#include "../expect.h"
#include <warpgrind/tx.cuh>

const int WORDS = 40000;

__global__ void rotate(int *values, int *wrong) {
    warpgrind::atomically([&](warpgrind::tx &t) {
        const int first = t.read(&values[0]);
        for (int i = 0; i + 1 < WORDS; i++) t.write(&values[i], t.read(&values[i + 1]));
        t.write(&values[WORDS - 1], first);
        if (!t.irrevocable()) atomicAdd(wrong, 1);
    });
}

int main() {
    int *values, *wrong;
    OK(cudaMallocManaged(&values, WORDS * sizeof(int)));
    OK(cudaMallocManaged(&wrong, sizeof *wrong));
    *wrong = 0;
    for (int i = 0; i < WORDS; i++) values[i] = i;
    rotate<<<2, 2>>>(values, wrong);
    OK(cudaDeviceSynchronize());
    CHECK(*wrong == 0);
    for (int i = 0; i < WORDS; i++) CHECK(values[i] == (i + 4) % WORDS);
    return done();
}
