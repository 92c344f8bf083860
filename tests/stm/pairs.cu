// Two words that are always equal, far apart. A branch on a difference is taken by nobody who sees one moment; whoever takes it
// loops for ever, or writes where nothing is.
#include <warpgrind/transactional.cuh>

#include "stm.h"

constexpr int PAIRS = 4, FAR = 1000;

__global__ void count(int *words, int *differences, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        int *const one = &words[(threadIdx.x + round) % PAIRS], *const other = one + FAR;
#ifdef FIXED
        bool differ;
        warpgrind::atomically([&](warpgrind::tx &t) {
            const int a = t.read(one), b = t.read(other);
            differ = a != b;
            t.write(one, a + 1);
            t.write(other, b + 1);
        });
#else
        warpgrind::transaction_begin();
        const int a = *one, b = *other;
        const bool differ = a != b;
        *one = a + 1;
        *other = b + 1;
        warpgrind::transaction_end();
#endif
        if (differ) atomicAdd(differences, 1);
    }
}

int main() {
    int *words = managed<int>(FAR + PAIRS), *differences = managed<int>(1);
    const int threads = 128, rounds = 12;
    count<<<4, threads / 4>>>(words, differences, rounds);
    OK(cudaDeviceSynchronize());
    int is_wrong = check(*differences == 0, "two words differ");
    for (int i = 0; i < PAIRS; ++i) {
        is_wrong |= check(words[i] == threads * rounds / PAIRS && words[i] == words[i + FAR], "a count");
    }
    return is_wrong;
}
