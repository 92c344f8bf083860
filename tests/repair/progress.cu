//@ exit: 0
//@ flags: --unit thread --explain
#include "../memcheck/memcheck.h"

// Threads that would wait for each other for ever, or run again many times, if those that lose ran again: each launch runs twice at
// most, and leaves behind what one thread after another does.
__global__ void crossing_writes(int *data) {
    // The last two threads write both words, in opposite order.
    data[threadIdx.x % 2] = threadIdx.x;
    data[1 - threadIdx.x % 2] = threadIdx.x; //~ ERROR conflict
}

__global__ void counter(int *data) {
    ++data[0]; //~ ERROR conflict
}

__global__ void chain(int *data) {
    data[threadIdx.x + 1] = data[threadIdx.x] + 1; //~ ERROR conflict
}

__global__ void write_skew(int *data) {
    data[threadIdx.x % 2] = data[1 - threadIdx.x % 2] + 1; //~ ERROR conflict
}

__global__ void flags(int *data) {
    if (!data[1 - threadIdx.x % 2])
        data[threadIdx.x % 2] = 1; //~ ERROR conflict
}

int seen[2048];

int *run(void (*kernel)(int *), int threads, int *data) {
    OK(cudaMemset(data, 0, sizeof seen));
#ifdef FIXED
    for (int repeats = 0; repeats < 2; ++repeats) // One thread has nobody to disturb.
        kernel<<<1, 1>>>(data);
#else
    kernel<<<1, threads>>>(data);
#endif
    OK(cudaMemcpy(seen, data, sizeof seen, cudaMemcpyDeviceToHost));
    return seen;
}

int main() {
    int *data = device<int>(2048);
    int *now = run(crossing_writes, 64, data);
    if (WRONG_OR_RIGHT(now[0] != 63 || now[1] != 63, false))
        return 3;
    now = run(counter, 1024, data);
    if (WRONG_OR_RIGHT(now[0] != 1024, false))
        return 4;
    now = run(chain, 1024, data);
    for (int i = 0; i <= 1024; ++i)
        if (WRONG_OR_RIGHT(now[i] != i, false))
            return 5;
    now = run(write_skew, 32, data);
    if (WRONG_OR_RIGHT(now[0] != 31 || now[1] != 32, false))
        return 6;
    now = run(flags, 2, data);
    if (WRONG_OR_RIGHT(now[0] != 1 || now[1] != 0, false))
        return 7;
    return finish();
}
