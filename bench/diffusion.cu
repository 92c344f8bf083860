// Anisotropic diffusion of a volume (Perona and Malik) with six neighbours, by threads that take one voxel each from
// global memory ("plain") or walk through planes that the block keeps in shared memory ("shared"), with a κ that is
// given ("fixed") or is the mean gradient before each step ("computed").
// Versions: plain_fixed shared_fixed plain_computed shared_computed
#include "bench.h"

#if defined(__CUDACC__)
#define DEVICE __host__ __device__
#else
#define DEVICE static inline
#endif

template <typename Real> DEVICE Real flow(Real difference, Real kappa) {
    Real ratio = difference / kappa;
    return difference * std::exp(-ratio * ratio);
}

template <typename Real>
DEVICE Real diffused(Real centre, Real left, Real right, Real up, Real down, Real behind, Real ahead, Real kappa) {
    return centre + (flow(left - centre, kappa) + flow(right - centre, kappa) + flow(up - centre, kappa) +
                     flow(down - centre, kappa) + flow(behind - centre, kappa) + flow(ahead - centre, kappa)) /
                        7;
}

// The gradient at a voxel, towards the next ones.
template <typename Real>
DEVICE Real gradient(const Real *in, int x, int y, int z, int width, int height, int depth) {
    int plane = width * height, i = z * plane + y * width + x;
    Real dx = x + 1 < width ? in[i + 1] - in[i] : 0, dy = y + 1 < height ? in[i + width] - in[i] : 0;
    Real dz = z + 1 < depth ? in[i + plane] - in[i] : 0;
    return std::sqrt(dx * dx + dy * dy + dz * dz);
}

template <typename Real>
DEVICE Real diffused_at(const Real *in, int x, int y, int z, int width, int height, int depth, Real kappa) {
    int plane = width * height, i = z * plane + y * width + x;
    Real centre = in[i];
    return diffused(centre, x > 0 ? in[i - 1] : centre, x + 1 < width ? in[i + 1] : centre,
                    y > 0 ? in[i - width] : centre, y + 1 < height ? in[i + width] : centre,
                    z > 0 ? in[i - plane] : centre, z + 1 < depth ? in[i + plane] : centre, kappa);
}

#if defined(__CUDACC__)

__device__ void sum_of_block(float *partial, int thread) {
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (thread < half)
            partial[thread] += partial[thread + half];
        __syncthreads();
    }
}

__global__ void sum_gradients(const float *in, float *sums, int width, int height, int depth) {
    __shared__ float partial[256];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, thread = threadIdx.y * 16 + threadIdx.x;
    float sum = 0;
    for (int z = 0; z < depth; z++)
        sum += gradient(in, x, y, z, width, height, depth);
    partial[thread] = sum;
    sum_of_block(partial, thread);
    if (thread == 0)
        sums[blockIdx.y * gridDim.x + blockIdx.x] = partial[0];
}

__global__ void mean(const float *sums, float *kappa, int count, float voxels) {
    __shared__ float partial[256];
    partial[threadIdx.x] = threadIdx.x < count ? sums[threadIdx.x] : 0;
    sum_of_block(partial, threadIdx.x);
    if (threadIdx.x == 0)
        *kappa = partial[0] / voxels;
}

__global__ void diffuse_plain(const float *in, float *out, int width, int height, int depth, const float *kappa) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, z = blockIdx.z;
    out[(z * height + y) * width + x] = diffused_at(in, x, y, z, width, height, depth, *kappa);
}

__global__ void diffuse_shared(const float *in, float *out, int width, int height, int depth, const float *kappa) {
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, plane = width * height;
    int column = threadIdx.x + 1, row = threadIdx.y + 1, i = y * width + x;
    float behind = in[i], centre = behind;
    for (int z = 0; z < depth; z++, i += plane) {
        float ahead = z + 1 < depth ? in[i + plane] : centre;
        __syncthreads();
        tile[row][column] = centre;
        if (threadIdx.x == 0)
            tile[row][0] = x > 0 ? in[i - 1] : centre;
        if (threadIdx.x == 15)
            tile[row][17] = x + 1 < width ? in[i + 1] : centre;
        if (threadIdx.y == 0)
            tile[0][column] = y > 0 ? in[i - width] : centre;
        if (threadIdx.y == 15)
            tile[17][column] = y + 1 < height ? in[i + width] : centre;
        __syncthreads();
        out[i] = diffused(centre, tile[row][column - 1], tile[row][column + 1], tile[row - 1][column],
                          tile[row + 1][column], behind, ahead, *kappa);
        behind = centre;
        centre = ahead;
    }
}

#elif !defined(OPENCL)

static void sum_gradients(Block block, const float *in, float *sums, int width, int height, int depth) {
    float partial[256] = {};
    for (int z = 0; z < depth; z++)
        for (int y = 0; y < 16; y++)
#pragma omp simd
            for (int x = 0; x < 16; x++)
                partial[y * 16 + x] += gradient(in, block.x * 16 + x, block.y * 16 + y, z, width, height, depth);
    for (int half = 128; half > 0; half /= 2)
#pragma omp simd
        for (int thread = 0; thread < half; thread++)
            partial[thread] += partial[thread + half];
    sums[block.y * block.grid.x + block.x] = partial[0];
}

static void mean(Block, const float *sums, float *kappa, int count, float voxels) {
    float sum = 0;
    for (int i = 0; i < count; i++)
        sum += sums[i];
    *kappa = sum / voxels;
}

static void diffuse_plain(Block block, const float *in, float *out, int width, int height, int depth,
                          const float *kappa) {
    int z = block.z;
    for (int y = block.y * 16; y < block.y * 16 + 16; y++)
#pragma omp simd
        for (int x = block.x * 16; x < block.x * 16 + 16; x++)
            out[(z * height + y) * width + x] = diffused_at(in, x, y, z, width, height, depth, *kappa);
}

static void diffuse_shared(Block block, const float *in, float *out, int width, int height, int depth,
                           const float *kappa) {
    float tile[18][18], behind[16][16];
    int plane = width * height, left = block.x * 16, top = block.y * 16;
    for (int y = 0; y < 16; y++)
        std::copy_n(in + (top + y) * width + left, 16, behind[y]);
    for (int z = 0; z < depth; z++) {
        const float *from = in + z * plane, *next = z + 1 < depth ? from + plane : from;
        for (int row = 0; row < 18; row++) {
            int y = std::min(std::max(top + row - 1, 0), height - 1);
#pragma omp simd
            for (int column = 0; column < 18; column++)
                tile[row][column] = from[y * width + std::min(std::max(left + column - 1, 0), width - 1)];
        }
        for (int y = 0; y < 16; y++)
#pragma omp simd
            for (int x = 0; x < 16; x++) {
                int i = (top + y) * width + left + x;
                float centre = tile[y + 1][x + 1];
                out[z * plane + i] = diffused(centre, tile[y + 1][x], tile[y + 1][x + 2], tile[y][x + 1],
                                              tile[y + 2][x + 1], behind[y][x], next[i], *kappa);
                behind[y][x] = centre;
            }
    }
}

#endif

int main(int count, char **arguments) {
    const int width = 128, height = 64, depth = 32, voxels = width * height * depth;
    const std::string version = count > 1 ? arguments[1] : "plain_fixed";
    const bool is_shared = version.find("shared") == 0, is_computed = version.find("computed") != std::string::npos;
    std::vector<float> in = numbers(voxels);
    for (float &value : in)
        value *= 255;
    std::vector<double> expected(in.begin(), in.end());
    for (int step = 0; step < 2; step++) {
        double kappa = 0;
        auto before = expected;
        auto each = [&](auto work) {
            for (int i = 0; i < voxels; i++)
                work(i, i % width, i / width % height, i / width / height);
        };
        each([&](int, int x, int y, int z) { kappa += gradient(before.data(), x, y, z, width, height, depth) / voxels; });
        kappa = is_computed ? kappa : 81;
        each([&](int i, int x, int y, int z) {
            expected[i] = diffused_at(before.data(), x, y, z, width, height, depth, kappa);
        });
    }
    dim3 block(16, 16), columns(width / 16, height / 16), grid(width / 16, height / 16, depth);
    const int sums_count = columns.x * columns.y;
    Buffer<float> first(in), second(voxels), third(voxels), sums(sums_count), kappa(std::vector<float>(1, 81));
    auto step = [&](const Buffer<float> &from, const Buffer<float> &to) {
        if (is_computed) {
            LAUNCH(sum_gradients, columns, block, from, sums, width, height, depth);
            LAUNCH(mean, 1, 256, sums, kappa, sums_count, float(voxels));
        }
        if (is_shared)
            LAUNCH(diffuse_shared, columns, block, from, to, width, height, depth, kappa);
        else
            LAUNCH(diffuse_plain, grid, block, from, to, width, height, depth, kappa);
    };
    auto steps = [&] {
        step(first, second);
        step(second, third);
    };
    measure([&] {}, steps, [&] { expect("voxels", third.read(), expected, 1e-4); });
}
