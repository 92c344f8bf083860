#define ROOT 0.70710678f

__kernel void transform(__global const float *in, __global float *sums, __global float *details, int n) {
    __local float values[512];
    int thread = get_local_id(0), block = get_group_id(0);
    values[thread] = in[block * 512 + thread];
    values[thread + 256] = in[block * 512 + thread + 256];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int count = 256, total = n / 2; count > 0; count /= 2, total /= 2) {
        float left, right;
        if (thread < count) {
            left = values[2 * thread];
            right = values[2 * thread + 1];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thread < count) {
            values[thread] = (left + right) * ROOT;
            details[total + block * count + thread] = (left - right) * ROOT;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0)
        sums[block] = values[0];
}
