// Transfers between accounts: nothing gets lost, no account is overdrawn, and who adds up all accounts meanwhile sees the same.
#include <warpgrind/transactional.cuh>

#include "stm.h"

constexpr int ACCOUNTS = 24, START = 100;

__global__ void transfer(int *accounts, int *odd_sums, int rounds) {
    unsigned state = blockIdx.x * blockDim.x + threadIdx.x + 1;
    for (int round = 0; round < rounds; ++round) {
        const int from = next_random(state) % ACCOUNTS, to = next_random(state) % ACCOUNTS;
        const int amount = next_random(state) % 60;
#ifdef FIXED
        warpgrind::atomically([&](warpgrind::tx &t) {
            const int have = t.read(&accounts[from]);
            if (have < amount) t.abort();
            t.write(&accounts[from], have - amount);
            t.write(&accounts[to], t.read(&accounts[to]) + amount);
        });
        if (round % 8 != 0) continue;
        int sum;
        warpgrind::atomically([&](warpgrind::tx &t) {
            sum = 0;
            for (int i = 0; i < ACCOUNTS; ++i) sum += t.read(&accounts[i]);
        });
#else
        {
            warpgrind::transaction_scope transaction;
            // Leaves the transaction, which commits.
            if (accounts[from] < amount) continue;
            accounts[from] -= amount;
            accounts[to] += amount;
        }
        if (round % 8 != 0) continue;
        int sum = 0;
        warpgrind::transaction_begin();
        for (int i = 0; i < ACCOUNTS; ++i) sum += accounts[i];
        warpgrind::transaction_end();
#endif
        if (sum != ACCOUNTS * START) atomicAdd(odd_sums, 1);
    }
}

int main() {
    int *accounts = managed<int>(ACCOUNTS), *odd_sums = managed<int>(1);
    for (int i = 0; i < ACCOUNTS; ++i) accounts[i] = START;
    transfer<<<4, 32>>>(accounts, odd_sums, 20);
    OK(cudaDeviceSynchronize());
    int sum = 0, is_wrong = 0;
    for (int i = 0; i < ACCOUNTS; ++i) {
        sum += accounts[i];
        is_wrong |= check(accounts[i] >= 0, "an account is overdrawn");
    }
    is_wrong |= check(sum == ACCOUNTS * START, "the sum of all accounts");
    return is_wrong | check(*odd_sums == 0, "a sum while transfers took place");
}
