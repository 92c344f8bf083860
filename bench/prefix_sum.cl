__kernel void scan(__global const int *in, __global int *out, __global int *sums) {
    __local int tree[512];
    int thread = get_local_id(0), start = get_group_id(0) * 512;
    tree[thread] = in[start + thread];
    tree[thread + 256] = in[start + thread + 256];
    for (int distance_ = 1; distance_ < 512; distance_ *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int i = (thread + 1) * distance_ * 2 - 1;
        if (i < 512)
            tree[i] += tree[i - distance_];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread == 0) {
        sums[get_group_id(0)] = tree[511];
        tree[511] = 0;
    }
    for (int distance_ = 256; distance_ > 0; distance_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int i = (thread + 1) * distance_ * 2 - 1;
        if (i < 512) {
            int left = tree[i - distance_];
            tree[i - distance_] = tree[i];
            tree[i] += left;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[start + thread] = tree[thread];
    out[start + thread + 256] = tree[thread + 256];
}

__kernel void add(__global int *out, __global const int *before) {
    int block = get_group_id(0), i = block * 512 + get_local_id(0);
    out[i] += before[block];
    out[i + 256] += before[block];
}
