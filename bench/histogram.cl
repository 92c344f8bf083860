__kernel void histogram(__global const uchar *data, __global uint *out, int n) {
    __local uint bins[256];
    int thread = get_local_id(0);
    bins[thread] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_add(&bins[data[i]], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&out[thread], bins[thread]);
}
