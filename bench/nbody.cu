#include "bench.h"

#if defined(__CUDACC__)

__global__ void accelerate(const float4 *bodies, float4 *out, int n) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i], sum = {0, 0, 0, 0};
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

#elif !defined(OPENCL)

static void accelerate(Block block, const float4 *bodies, float4 *out, int n) {
    const float4 *me = bodies + block.x * 128;
    float sum_x[128] = {}, sum_y[128] = {}, sum_z[128] = {};
    for (int start = 0; start < n; start += 128) {
        float4 tile[128];
        std::copy(bodies + start, bodies + start + 128, tile);
        // Threads in the inner loop: with the bodies there, sums would be in another order.
        for (int j = 0; j < 128; j++)
#pragma omp simd
            for (int thread = 0; thread < 128; thread++) {
                float x = tile[j].x - me[thread].x, y = tile[j].y - me[thread].y, z = tile[j].z - me[thread].z;
                float inverse = 1 / sqrtf(x * x + y * y + z * z + 1e-3f);
                float scale = tile[j].w * inverse * inverse * inverse;
                sum_x[thread] += x * scale;
                sum_y[thread] += y * scale;
                sum_z[thread] += z * scale;
            }
    }
    for (int thread = 0; thread < 128; thread++)
        out[block.x * 128 + thread] = {sum_x[thread], sum_y[thread], sum_z[thread], 0};
}

#endif

int main() {
    const int n = 2048;
    auto all = numbers(4 * n);
    std::vector<float4> bodies(n);
    for (int i = 0; i < n; i++)
        bodies[i] = {all[4 * i], all[4 * i + 1], all[4 * i + 2], all[4 * i + 3]};
    std::vector<double> expected(3 * n);
    for (int i = 0; i < n; i++)
        for (float4 other : bodies) {
            double x = other.x - bodies[i].x, y = other.y - bodies[i].y, z = other.z - bodies[i].z;
            double square = x * x + y * y + z * z + 1e-3, scale = other.w / (square * sqrt(square));
            expected[3 * i] += x * scale;
            expected[3 * i + 1] += y * scale;
            expected[3 * i + 2] += z * scale;
        }
    Buffer<float4> device_bodies(bodies), out(n);
    auto check = [&] {
        std::vector<float> found;
        for (float4 sum : out.read())
            found.insert(found.end(), {sum.x, sum.y, sum.z});
        expect("sums", found, expected, 1e-3);
    };
    measure([&] {}, [&] { LAUNCH(accelerate, n / 128, 128, device_bodies, out, n); }, check);
}
