#include "bench.h"

__global__ void accelerate(const float4 *bodies, float3 *out, int n) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i];
    float3 sum = {0, 0, 0};
    for (int start = 0; start < n; start += 128) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
            float inverse = rsqrtf(x * x + y * y + z * z + 1e-3f);
            float scale = tile[j].w * inverse * inverse * inverse;
            sum.x += x * scale;
            sum.y += y * scale;
            sum.z += z * scale;
        }
        __syncthreads();
    }
    out[i] = sum;
}

int main() {
    const int n = 2048;
    auto all = numbers(4 * n);
    std::vector<float4> bodies(n);
    for (int i = 0; i < n; i++)
        bodies[i] = {all[4 * i], all[4 * i + 1], all[4 * i + 2], all[4 * i + 3]};
    float4 *din = to_device(bodies);
    float3 *dout = to_device(std::vector<float3>(n));
    accelerate<<<n / 128, 128>>>(din, dout, n);
    auto out = to_host(dout, n);
    for (int i = 0; i < n; i += 501) {
        double sum = 0;
        for (float4 other : bodies) {
            double x = other.x - bodies[i].x, y = other.y - bodies[i].y, z = other.z - bodies[i].z;
            sum += x * other.w / pow(x * x + y * y + z * z + 1e-3, 1.5);
        }
        check(near(out[i].x, sum, 2e-3), "a body");
    }
    measure([&] { accelerate<<<n / 128, 128>>>(din, dout, n); });
}
