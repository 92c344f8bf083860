// Transfers between accounts, and auditors that see the same total at every moment, also in attempts that fail.
//@ variants: static sm_75 sm_120 rdc G clang

#include "../expect.h"
#include <warpgrind/tx.cuh>

const int ACCOUNTS = 40;
const int START = 1000;

struct Counts {
    int transfers, audits, wrong_totals, wrong_totals_inside, refused;
};

__global__ void bank(int *account, int rounds, Counts *counts) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned random = thread * 2654435761u + 12345;
    for (int round = 0; round < rounds; round++) {
        if (thread % 8 == 7) {
            int total = 0;
            warpgrind::atomically([&](warpgrind::tx &t) {
                total = 0;
                for (int i = 0; i < ACCOUNTS; i++) total += t.read(&account[i]);
                if (total != ACCOUNTS * START) atomicAdd(&counts->wrong_totals_inside, 1);
            });
            if (total != ACCOUNTS * START) atomicAdd(&counts->wrong_totals, 1);
            atomicAdd(&counts->audits, 1);
            continue;
        }
        random = random * 1664525u + 1013904223u;
        int from = (random >> 8) % ACCOUNTS;
        random = random * 1664525u + 1013904223u;
        int to = (from + 1 + (random >> 8) % (ACCOUNTS - 1)) % ACCOUNTS;
        int amount = 1 + (random >> 4) % 700;
        bool done = warpgrind::atomically([&](warpgrind::tx &t) {
            int have = t.read(&account[from]);
            if (have < amount) t.abort();
            t.write(&account[from], have - amount);
            t.write(&account[to], t.read(&account[to]) + amount);
        });
        atomicAdd(done ? &counts->transfers : &counts->refused, 1);
    }
}

int main() {
    const int blocks = 2, threads = 32, rounds = 6;
    int *account;
    Counts *counts;
    OK(cudaMallocManaged(&account, ACCOUNTS * sizeof(int)));
    OK(cudaMallocManaged(&counts, sizeof(Counts)));
    *counts = {};
    for (int i = 0; i < ACCOUNTS; i++) account[i] = START;
    bank<<<blocks, threads>>>(account, rounds, counts);
    OK(cudaDeviceSynchronize());
    int total = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        CHECK(account[i] >= 0);
        total += account[i];
    }
    CHECK(total == ACCOUNTS * START);
    CHECK(counts->wrong_totals == 0);
    CHECK(counts->wrong_totals_inside == 0);
    CHECK(counts->audits == blocks * threads / 8 * rounds);
    CHECK(counts->transfers + counts->refused == blocks * threads / 8 * 7 * rounds);
    CHECK(counts->transfers > 0 && counts->refused > 0);
    return done();
}
