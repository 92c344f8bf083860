float flow(float difference, float kappa) {
    float ratio = difference / kappa;
    return difference * exp(-ratio * ratio);
}

float diffused(float centre, float left, float right, float up, float down, float behind, float ahead, float kappa) {
    return centre + (flow(left - centre, kappa) + flow(right - centre, kappa) + flow(up - centre, kappa) +
                     flow(down - centre, kappa) + flow(behind - centre, kappa) + flow(ahead - centre, kappa)) /
                        7;
}

float gradient(__global const float *in, int x, int y, int z, int width, int height, int depth) {
    int plane = width * height, i = z * plane + y * width + x;
    float dx = x + 1 < width ? in[i + 1] - in[i] : 0, dy = y + 1 < height ? in[i + width] - in[i] : 0;
    float dz = z + 1 < depth ? in[i + plane] - in[i] : 0;
    return sqrt(dx * dx + dy * dy + dz * dz);
}

__kernel void sum_gradients(__global const float *in, __global float *sums, int width, int height, int depth) {
    __local float partial[256];
    int x = get_global_id(0), y = get_global_id(1), thread = get_local_id(1) * 16 + get_local_id(0);
    float sum = 0;
    for (int z = 0; z < depth; z++)
        sum += gradient(in, x, y, z, width, height, depth);
    partial[thread] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_ = 128; half_ > 0; half_ /= 2) {
        if (thread < half_)
            partial[thread] += partial[thread + half_];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0)
        sums[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = partial[0];
}

__kernel void mean(__global const float *sums, __global float *kappa, int count, float voxels) {
    __local float partial[256];
    int thread = get_local_id(0);
    partial[thread] = thread < count ? sums[thread] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_ = 128; half_ > 0; half_ /= 2) {
        if (thread < half_)
            partial[thread] += partial[thread + half_];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0)
        *kappa = partial[0] / voxels;
}

__kernel void diffuse_plain(__global const float *in, __global float *out, int width, int height, int depth,
                            __global const float *kappa) {
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int plane = width * height, i = z * plane + y * width + x;
    float centre = in[i];
    out[i] = diffused(centre, x > 0 ? in[i - 1] : centre, x + 1 < width ? in[i + 1] : centre,
                      y > 0 ? in[i - width] : centre, y + 1 < height ? in[i + width] : centre,
                      z > 0 ? in[i - plane] : centre, z + 1 < depth ? in[i + plane] : centre, *kappa);
}

__kernel void diffuse_shared(__global const float *in, __global float *out, int width, int height, int depth,
                             __global const float *kappa) {
    __local float tile[18][18];
    int thread_x = get_local_id(0), thread_y = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    int column = thread_x + 1, row = thread_y + 1, i = y * width + x, plane = width * height;
    float behind = in[i], centre = behind;
    for (int z = 0; z < depth; z++, i += plane) {
        float ahead = z + 1 < depth ? in[i + plane] : centre;
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[row][column] = centre;
        if (thread_x == 0)
            tile[row][0] = x > 0 ? in[i - 1] : centre;
        if (thread_x == 15)
            tile[row][17] = x + 1 < width ? in[i + 1] : centre;
        if (thread_y == 0)
            tile[0][column] = y > 0 ? in[i - width] : centre;
        if (thread_y == 15)
            tile[17][column] = y + 1 < height ? in[i + width] : centre;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[i] = diffused(centre, tile[row][column - 1], tile[row][column + 1], tile[row - 1][column],
                          tile[row + 1][column], behind, ahead, *kappa);
        behind = centre;
        centre = ahead;
    }
}
