// A transaction that is aborted leaves nothing behind, however much it has written, and its locks are free again.
//@ variants: static clang

#include "../expect.h"
#include <warpgrind/tx.cuh>

/// Writes `count` elements and gives up, or not.
__global__ void write_all(int *values, int count, int value, bool give_up, int *results) {
    bool after_abort = false;
    bool done = warpgrind::atomically([&](warpgrind::tx &t) {
        // Twice, so that the order matters in which it is undone.
        for (int i = 0; i < count; i++) t.write(&values[i], 1000);
        for (int i = 0; i < count; i++) t.write(&values[i], value + i);
        for (int i = 0; i < count; i++) {
            if (t.read(&values[i]) != value + i) atomicAdd(&results[2], 1);
        }
        if (give_up) {
            t.abort();
            after_abort = true;
        }
    });
    atomicAdd(&results[done], 1);
    if (after_abort) atomicAdd(&results[3], 1);
}

/// The same by explicit calls.
__global__ void by_calls(int *values, int *results) {
    warpgrind::transaction<4, 4> t;
    t.begin();
    int first = -1;
    if (!t.read(&values[0], first) || !t.write(&values[0], first + 1) || !t.validate()) atomicAdd(&results[0], 1);
    t.abort();
    if (t.commit()) atomicAdd(&results[0], 1);
    t.begin();
    int again = -1;
    if (!t.read(&values[0], again) || again != first) atomicAdd(&results[0], 1);
    t.write(&values[0], again + 1);
    if (!t.commit()) atomicAdd(&results[0], 1);
    // Five words do not fit: the attempt fails, and the next is irrevocable.
    int attempts = 0;
    do {
        t.begin();
        attempts++;
        if (t.irrevocable() != (attempts == 2)) atomicAdd(&results[0], 1);
        for (int i = 1; i < 6; i++) {
            if (!t.write(&values[i], i)) break;
        }
    } while (!t.commit());
    if (attempts != 2) atomicAdd(&results[0], 1);
    // An irrevocable attempt that begins anew has written nothing.
    do {
        t.begin();
        for (int i = 1; i < 6; i++) {
            if (!t.write(&values[i], 100)) break;
        }
    } while (!t.irrevocable());
    t.begin();
    int value = 0;
    if (!t.read(&values[3], value) || value != 3 || !t.commit()) atomicAdd(&results[0], 1);
}

int main() {
    // Beyond 32 words a transaction is irrevocable.
    for (int count : {1, 32, 33}) {
        int *values, *results;
        OK(cudaMallocManaged(&values, count * sizeof(int)));
        OK(cudaMallocManaged(&results, 4 * sizeof(int)));
        for (bool give_up : {true, false, true}) {
            for (int i = 0; i < count; i++) values[i] = -i;
            for (int i = 0; i < 4; i++) results[i] = 0;
            write_all<<<2, 2>>>(values, count, 7, give_up, results);
            OK(cudaDeviceSynchronize());
            CHECK(results[0] == (give_up ? 4 : 0));
            CHECK(results[1] == (give_up ? 0 : 4));
            CHECK(results[2] == 0 && results[3] == 0);
            for (int i = 0; i < count; i++) CHECK(values[i] == (give_up ? -i : 7 + i));
        }
        OK(cudaFree(values));
        OK(cudaFree(results));
    }
    int *values, *results;
    OK(cudaMallocManaged(&values, 6 * sizeof(int)));
    OK(cudaMallocManaged(&results, sizeof(int)));
    for (int i = 0; i < 6; i++) values[i] = 0;
    *results = 0;
    by_calls<<<1, 1>>>(values, results);
    OK(cudaDeviceSynchronize());
    CHECK(*results == 0);
    for (int i = 0; i < 6; i++) CHECK(values[i] == (i == 0 ? 1 : i));
    return done();
}
