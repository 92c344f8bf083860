// Functions that are called in a transaction are part of it; a loop around one is unrolled, so that it has several beginnings
// with one end; what a thread has in registers is as before when an attempt begins again; and `atomically` has the same locks.
#include <warpgrind/transactional.cuh>

#include "stm.h"

constexpr int WORDS = 8;

struct Sum {
    int ones, many;
};

__device__ __noinline__ void add(int *to, int amount) {
    if (amount > 0) *to += amount;
}

__device__ __noinline__ int moved(int *words, int place, int amount) {
    if (words[place] < amount) return 0;
    add(&words[place], -amount + 2 * amount);
    return amount;
}

__global__ void work(int *words, Sum *sums, int rounds) {
    unsigned state = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int done = 0, attempts_of_all = 0;
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) {
        const int place = next_random(state) % WORDS;
#ifdef FIXED
        int before = done;
        warpgrind::atomically([&](warpgrind::tx &t) {
            done = before;
            const int have = t.read(&words[place]);
            if (have >= 1) {
                t.write(&words[place], have + 1);
                done += 1;
            }
        });
#else
        {
            warpgrind::transaction_scope transaction;
            // Twice if an attempt began with what the one before left in the register.
            done += moved(words, place, 1);
        }
#endif
        attempts_of_all += 1;
    }
    warpgrind::atomically([&](warpgrind::tx &t) { t.write(&sums->ones, t.read(&sums->ones) + done); });
#ifdef FIXED
    warpgrind::atomically([&](warpgrind::tx &t) { t.write(&sums->many, t.read(&sums->many) + attempts_of_all); });
    warpgrind::atomically([&](warpgrind::tx &t) { t.write(&sums->ones, t.read(&sums->ones) + 1); });
#else
    {
        warpgrind::transaction_scope transaction;
        sums->many += attempts_of_all;
        sums->ones += 1;
    }
#endif
}

int main() {
    int *words = managed<int>(WORDS);
    Sum *sums = managed<Sum>(1);
    for (int i = 0; i < WORDS; ++i) words[i] = 1;
    const int threads = 128, rounds = 16;
    work<<<4, threads / 4>>>(words, sums, rounds);
    OK(cudaDeviceSynchronize());
    int all = 0;
    for (int i = 0; i < WORDS; ++i) all += words[i];
    int is_wrong = check(all == WORDS + threads * rounds, "what was added to words");
    is_wrong |= check(sums->ones == threads * rounds + threads, "what threads say that they have added");
    return is_wrong | check(sums->many == threads * rounds, "how often they were there");
}
