#include "bench.h"

// Sums up to each value in one pass: a block publishes the sum of its tile in `states`, then looks back over the tiles
// before its own until it finds one that knows all that is before. Blocks take tiles in the order in which they start,
// so that a block only waits for blocks that run. The lowest two bits of a state say what the others hold.
const int TILE = 1024;
enum { NOTHING = 0, SUM_OF_TILE = 1, SUM_UP_TO_TILE = 2 };

#if defined(__CUDACC__)

__global__ void scan(const unsigned *in, unsigned *out, volatile unsigned *states, unsigned *next_tile) {
    __shared__ unsigned sums[256], shared_tile, shared_before;
    int thread = threadIdx.x;
    if (thread == 0)
        shared_tile = atomicAdd(next_tile, 1);
    __syncthreads();
    int tile = shared_tile, start = tile * TILE + thread * 4;
    unsigned values[4], sum = 0;
    for (int i = 0; i < 4; i++)
        values[i] = sum += in[start + i];
    sums[thread] = sum;
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        unsigned left = thread >= distance ? sums[thread - distance] : 0;
        __syncthreads();
        sums[thread] += left;
        __syncthreads();
    }
    if (thread == 0) {
        unsigned before = 0;
        if (tile > 0)
            states[tile] = sums[255] << 2 | SUM_OF_TILE;
        for (int other = tile - 1; other >= 0;) {
            unsigned state = states[other];
            if ((state & 3) == NOTHING)
                continue;
            before += state >> 2;
            if ((state & 3) == SUM_UP_TO_TILE)
                break;
            other--;
        }
        states[tile] = (before + sums[255]) << 2 | SUM_UP_TO_TILE;
        shared_before = before;
    }
    __syncthreads();
    unsigned before = shared_before + (thread > 0 ? sums[thread - 1] : 0);
    for (int i = 0; i < 4; i++)
        out[start + i] = before + values[i];
}

#elif !defined(OPENCL)

static void scan(Block, const unsigned *in, unsigned *out, unsigned *states, unsigned *next_tile) {
    int tile = __atomic_fetch_add(next_tile, 1, __ATOMIC_RELAXED), start = tile * TILE;
    unsigned values[TILE], sum = 0;
    for (int i = 0; i < TILE; i++)
        values[i] = sum += in[start + i];
    unsigned before = 0;
    if (tile > 0)
        __atomic_store_n(&states[tile], sum << 2 | SUM_OF_TILE, __ATOMIC_RELAXED);
    for (int other = tile - 1; other >= 0;) {
        unsigned state = __atomic_load_n(&states[other], __ATOMIC_RELAXED);
        if ((state & 3) == NOTHING)
            continue;
        before += state >> 2;
        if ((state & 3) == SUM_UP_TO_TILE)
            break;
        other--;
    }
    __atomic_store_n(&states[tile], (before + sum) << 2 | SUM_UP_TO_TILE, __ATOMIC_RELAXED);
#pragma omp simd
    for (int i = 0; i < TILE; i++)
        out[start + i] = before + values[i];
}

#endif

int main() {
    const int tiles = 1024, n = tiles * TILE;
    std::vector<unsigned> in(n), expected(n);
    for (int i = 0, sum = 0; i < n; i++) {
        in[i] = unsigned(number(i) * 256);
        expected[i] = sum += in[i];
    }
    Buffer<unsigned> device_in(in), out(n), states(tiles), next_tile(1);
    auto prepare = [&] {
        states.write(std::vector<unsigned>(tiles));
        next_tile.write({0});
    };
    measure(prepare, [&] { LAUNCH(scan, tiles, 256, device_in, out, states, next_tile); },
            [&] { expect("sums", out.read(), expected); });
}
