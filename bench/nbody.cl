__kernel void accelerate(__global const float4 *bodies, __global float4 *out, int n) {
    __local float4 tile[128];
    int thread = get_local_id(0), i = get_global_id(0);
    float4 me = bodies[i], sum = (float4)(0, 0, 0, 0);
    for (int start = 0; start < n; start += 128) {
        tile[thread] = bodies[start + thread];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 128; j++) {
            float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
            float inverse = rsqrt(x * x + y * y + z * z + 1e-3f);
            float scale = tile[j].w * inverse * inverse * inverse;
            sum.x += x * scale;
            sum.y += y * scale;
            sum.z += z * scale;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = sum;
}
