__kernel void sequence(__global const uint *directions, __global float *out, int n) {
    __local uint mine[32];
    int thread = get_local_id(0), dimension = get_group_id(1);
    if (thread < 32)
        mine[thread] = directions[dimension * 32 + thread];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i = get_global_id(0), bits = 0;
    for (int k = 0; k < 32; k++)
        bits ^= (i >> k & 1) * mine[k];
    out[dimension * n + i] = bits * (1.0f / 4294967296.0f);
}
