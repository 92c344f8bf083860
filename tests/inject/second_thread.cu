// A copy of the process would lack the program's second thread: each fault is followed in a process of its own, which is said.
//@ trials: --model store-data --trials 3 --verdict program => outcomes.sdc=3 program.sdc=3
//@ not-forked: the program has several threads
//@ gpu: --model store-data --trials 2 --verdict program => outcomes.sdc=2 program.sdc=2
#include "common.h"
#include <condition_variable>
#include <thread>

__global__ void store(int *out, int value) { out[threadIdx.x] = value; }

int main() {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_over = false;
    std::thread second([&] {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return is_over; });
    });
    Numbers out(0);
    store<<<1, 64>>>(out.data, 5);
    bool is_right = true;
    for (int value : out.read())
        is_right &= value == 5;
    {
        std::lock_guard<std::mutex> lock(mutex);
        is_over = true;
    }
    changed.notify_all();
    second.join();
    printf(is_right ? "right\n" : "wrong\n");
}
