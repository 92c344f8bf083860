__kernel void transform(__global const float *in, __global const float *cosines, __global float *out, int width) {
    __local float half_[8][8];
    int x = get_local_id(0), y = get_local_id(1), corner = get_group_id(1) * 8 * width + get_group_id(0) * 8;
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += cosines[y * 8 + k] * in[corner + k * width + x];
    half_[y][x] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += half_[y][k] * cosines[x * 8 + k];
    out[corner + y * width + x] = sum;
}
