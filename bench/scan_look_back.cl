#define TILE 1024
enum { NOTHING = 0, SUM_OF_TILE = 1, SUM_UP_TO_TILE = 2 };

__kernel void scan(__global const uint *in, __global uint *out, volatile __global uint *states,
                   __global uint *next_tile) {
    __local uint sums[256], shared_tile, shared_before;
    int thread = get_local_id(0);
    if (thread == 0)
        shared_tile = atomic_add(next_tile, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    int tile = shared_tile, start = tile * TILE + thread * 4;
    uint values[4], sum = 0;
    for (int i = 0; i < 4; i++)
        values[i] = sum += in[start + i];
    sums[thread] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int distance_ = 1; distance_ < 256; distance_ *= 2) {
        uint left = thread >= distance_ ? sums[thread - distance_] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[thread] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0) {
        uint before = 0;
        if (tile > 0)
            states[tile] = sums[255] << 2 | SUM_OF_TILE;
        for (int other = tile - 1; other >= 0;) {
            uint state = states[other];
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
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = shared_before + (thread > 0 ? sums[thread - 1] : 0);
    for (int i = 0; i < 4; i++)
        out[start + i] = before + values[i];
}
