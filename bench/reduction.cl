__kernel void sum(__global const float *in, __global float *out, int n) {
    __local float partial[256];
    int thread = get_local_id(0);
    float mine = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        mine += in[i];
    partial[thread] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_ = 128; half_ > 0; half_ /= 2) {
        if (thread < half_)
            partial[thread] += partial[thread + half_];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0)
        out[get_group_id(0)] = partial[0];
}
