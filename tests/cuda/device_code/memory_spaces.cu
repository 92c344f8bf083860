// Constant memory, the read-only path, volatile and vector accesses, and shared memory of a block in two dimensions.
//@ variants: static shared sm_75 sm_90 G clang

#include "../expect.h"

__constant__ float weights[5];
__constant__ struct { int scale; short shift[3]; } settings = {3, {1, 2, 3}};

__global__ void blur(const float *__restrict__ in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = -2; k <= 2; k++) {
        int at = min(max(i + k, 0), n - 1);
        sum += weights[k + 2] * __ldg(in + at);
    }
    out[i] = sum * settings.scale + settings.shift[i % 3];
}

__global__ void transpose(const int *in, int *out, int n) {
    __shared__ int tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void vectors(const float4 *in, double2 *out) {
    float4 v = in[threadIdx.x];
    out[threadIdx.x] = make_double2((double)v.x + v.y, (double)v.z * v.w);
}

int main() {
    const int n = 1000;
    float host[n], *in, *out, found[n];
    float w[5] = {1, 2, 4, 2, 1};
    for (int i = 0; i < n; i++) host[i] = (float)(i % 17);
    OK(cudaMemcpyToSymbol(weights, w, sizeof w));
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    blur<<<8, 128>>>(in, out, n);
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = -2; k <= 2; k++) sum += w[k + 2] * host[i + k < 0 ? 0 : i + k >= n ? n - 1 : i + k];
        CHECK(found[i] == sum * 3 + i % 3 + 1);
    }

    const int side = 64;
    static int matrix[side * side], turned[side * side];
    int *a, *b;
    for (int i = 0; i < side * side; i++) matrix[i] = i;
    OK(cudaMalloc(&a, sizeof matrix));
    OK(cudaMalloc(&b, sizeof matrix));
    OK(cudaMemcpy(a, matrix, sizeof matrix, cudaMemcpyHostToDevice));
    transpose<<<dim3(4, 4), dim3(16, 16)>>>(a, b, side);
    OK(cudaMemcpy(turned, b, sizeof turned, cudaMemcpyDeviceToHost));
    for (int i = 0; i < side * side; i++) CHECK(turned[i] == i % side * side + i / side);

    double2 pairs[8];
    vectors<<<1, 8>>>((const float4 *)in, (double2 *)out);
    OK(cudaMemcpy(pairs, out, sizeof pairs, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++) {
        CHECK(pairs[i].x == host[4 * i] + host[4 * i + 1]);
        CHECK(pairs[i].y == host[4 * i + 2] * host[4 * i + 3]);
    }
    return done();
}
