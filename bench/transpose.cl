__kernel void transpose(__global const float *in, __global float *out, int n) {
    __local float tile[32][33];
    int thread_x = get_local_id(0), thread_y = get_local_id(1);
    int x = get_group_id(0) * 32 + thread_x, y = get_group_id(1) * 32 + thread_y;
    for (int i = 0; i < 32; i += 8)
        tile[thread_y + i][thread_x] = in[(y + i) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * 32 + thread_x;
    y = get_group_id(0) * 32 + thread_y;
    for (int i = 0; i < 32; i += 8)
        out[(y + i) * n + x] = tile[thread_x][thread_y + i];
}
