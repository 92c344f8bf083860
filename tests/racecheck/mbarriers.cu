#include "../memcheck/memcheck.h"
#include <cuda/barrier>

// Barrier objects in shared memory.
using barrier = cuda::barrier<cuda::thread_scope_block>;
const int THREADS = 128;

// Threads use the object before it is made.
__global__ void made_too_late(int *data) {
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    if (threadIdx.x == 0)
        init(&bar, THREADS);
    WRONG_OR_RIGHT((void)0, __syncthreads());
    bar.arrive_and_wait(); //~ ERROR data-race ~ ERROR warp-synchrony
    data[threadIdx.x] = threadIdx.x;
}

// A thread arrives, and reads what others wrote before it has waited.
__global__ void read_before_the_wait(int *data) {
    __shared__ barrier bar;
    __shared__ int tile[THREADS];
    if (threadIdx.x == 0)
        init(&bar, THREADS);
    __syncthreads();
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    auto token = bar.arrive();
    int early = WRONG_OR_RIGHT(tile[THREADS - 1 - threadIdx.x], 0); //~ ERROR data-race
    bar.wait(std::move(token));
    data[threadIdx.x] = tile[THREADS - 1 - threadIdx.x] + early;
}

// A thread writes after it has arrived.
__global__ void write_after_the_arrival(int *data) {
    __shared__ barrier bar;
    __shared__ int tile[THREADS];
    if (threadIdx.x == 0)
        init(&bar, THREADS);
    __syncthreads();
    if (!WRONG_OR_RIGHT(true, false))
        tile[threadIdx.x] = data[threadIdx.x];
    auto token = bar.arrive();
    if (WRONG_OR_RIGHT(true, false))
        tile[threadIdx.x] = data[threadIdx.x];
    bar.wait(std::move(token));
    data[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// A warp fills two buffers by turns, and the others read them.
__global__ void two_buffers(const int *in, int *out, int rounds) {
    __shared__ barrier full[2], empty[2];
    __shared__ int buffers[2][32];
    if (threadIdx.x < 2) {
        init(full + threadIdx.x, THREADS);
        init(empty + threadIdx.x, THREADS);
    }
    __syncthreads();
    int lane = threadIdx.x % 32, sum = 0;
    if (threadIdx.x < 32) {
        for (int round = 0; round < rounds; ++round) {
            int turn = round % 2;
            empty[turn].arrive_and_wait();
            buffers[turn][lane] = in[round * 32 + lane]; //~ ERROR data-race
            (void)full[turn].arrive();
        }
        return;
    }
    for (int turn = 0; turn < 2; ++turn)
        (void)empty[turn].arrive();
    for (int round = 0; round < rounds; ++round) {
        int turn = round % 2;
        full[turn].arrive_and_wait();
        // The buffer is said to be empty before it is read.
        if (WRONG_OR_RIGHT(round + 2 < rounds, false))
            (void)empty[turn].arrive();
        sum += buffers[turn][31 - lane];
        if (WRONG_OR_RIGHT(false, round + 2 < rounds))
            (void)empty[turn].arrive();
    }
    out[threadIdx.x] = sum;
}

// Asynchronous copies that arrive when they are done.
__global__ void copies(const int *in, int *out) {
    __shared__ barrier bar;
    __shared__ int tile[THREADS];
    if (threadIdx.x == 0)
        init(&bar, THREADS);
    __syncthreads();
    cuda::memcpy_async(tile + threadIdx.x, in + threadIdx.x, cuda::aligned_size_t<4>(sizeof(int)), bar); //~ ERROR data-race
    auto token = bar.arrive();
    if (WRONG_OR_RIGHT(false, true))
        bar.wait(std::move(token));
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// One warp waits by parity; the other ones do not wait.
__global__ void parity(int *data) {
    __shared__ unsigned long long object;
    __shared__ int tile[THREADS];
    unsigned address = __cvta_generic_to_shared(&object);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(THREADS));
    __syncthreads();
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(address) : "memory");
    if (threadIdx.x < WRONG_OR_RIGHT(32, THREADS)) {
        int ended = 0;
        while (!ended)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                         : "=r"(ended)
                         : "r"(address)
                         : "memory");
    }
    data[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

int main() {
    made_too_late<<<1, THREADS>>>(device<int>(THREADS));
    read_before_the_wait<<<1, THREADS>>>(device<int>(THREADS));
    write_after_the_arrival<<<1, THREADS>>>(device<int>(THREADS));
    two_buffers<<<1, THREADS>>>(device<int>(3200), device<int>(THREADS), 100);
    copies<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    parity<<<1, THREADS>>>(device<int>(THREADS));
    return finish();
}
