// Anisotropic diffusion of a volume, as a study of 2013 has it, to repeat its tables (scripts/diffusion-study): by threads that take
// one voxel each and leave the rest to the caches ("cache"), or that walk through planes which the block keeps in shared memory
// ("shared"), with a κ that is given ("fixed") or that is the mean gradient before each step ("computed"); and one voxel after the
// other on the host ("cpu"). The shape of the kernels is that of the study's Figures 4 and 5: where these have no branch, there is
// none here, so indices at borders are clamped, and conditions are joined by `&`.
//
//     study VERSION BLOCK SIZE STEPS          study cache_fixed 16x16 512x512x246 10,30,50,100
//
// The volume is a phantom of ellipsoids with noise. What is printed is one line of JSON: seconds from the start to each of the steps,
// those that processors have worked for it, κ, and noise and edges before and after.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <sstream>
#include <string>
#include <vector>

// Parts of the sum of all gradients, so that threads do not all wait for one word.
const int PARTS = 16;
const float FIXED_KAPPA = 81;

struct Size {
    int x, y, z;
};

__host__ __device__ inline float flow(float difference, float kappa) {
    float ratio = difference / kappa;
    return difference * expf(-ratio * ratio);
}

__host__ __device__ inline float diffused(float centre, float left, float right, float up, float down, float behind,
                                          float ahead, float kappa) {
    return centre + (flow(left - centre, kappa) + flow(right - centre, kappa) + flow(up - centre, kappa) +
                     flow(down - centre, kappa) + flow(behind - centre, kappa) + flow(ahead - centre, kappa)) /
                        7;
}

// Figure 4.
__global__ void cache_fixed(const float *in, float *out, Size size, float kappa) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if ((x < size.x) & (y < size.y) & (z < size.z)) {
        int row = size.x, plane = size.x * size.y, i = z * plane + y * row + x;
        float centre = in[i];
        float left = in[i - x + max(x - 1, 0)];
        float right = in[i - x + min(x + 1, size.x - 1)];
        float up = in[i - y * row + max(y - 1, 0) * row];
        float down = in[i - y * row + min(y + 1, size.y - 1) * row];
        float behind = in[i - z * plane + max(z - 1, 0) * plane];
        float ahead = in[i - z * plane + min(z + 1, size.z - 1) * plane];
        out[i] = diffused(centre, left, right, up, down, behind, ahead, kappa);
    }
}

// The same with a loop for the mean of all gradients.
__global__ void cache_computed(const float *in, float *out, Size size, const float *sums) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if ((x < size.x) & (y < size.y) & (z < size.z)) {
        float kappa = 0;
        for (int part = 0; part < PARTS; part++)
            kappa += sums[part];
        int row = size.x, plane = size.x * size.y, i = z * plane + y * row + x;
        float centre = in[i];
        float left = in[i - x + max(x - 1, 0)];
        float right = in[i - x + min(x + 1, size.x - 1)];
        float up = in[i - y * row + max(y - 1, 0) * row];
        float down = in[i - y * row + min(y + 1, size.y - 1) * row];
        float behind = in[i - z * plane + max(z - 1, 0) * plane];
        float ahead = in[i - z * plane + min(z + 1, size.z - 1) * plane];
        out[i] = diffused(centre, left, right, up, down, behind, ahead, kappa);
    }
}

// Figure 5. Blocks are whole, so that all threads come to the barriers.
__global__ void shared_fixed(const float *in, float *out, Size size, float kappa) {
    extern __shared__ float tile[];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if ((x < size.x) & (y < size.y)) {
        int row = size.x, plane = size.x * size.y, i = y * row + x, width = blockDim.x + 2;
        int here = (threadIdx.y + 1) * width + threadIdx.x + 1;
        int left = blockIdx.x * blockDim.x, top = blockIdx.y * blockDim.y;
        int before = max(left - 1, 0), after = min(left + (int)blockDim.x, size.x - 1);
        int above = max(top - 1, 0), below = min(top + (int)blockDim.y, size.y - 1);
        float behind = in[i], centre = behind;
        for (int z = 0; z < size.z; z++) {
            int at = z * plane;
            float ahead = in[min(z + 1, size.z - 1) * plane + i];
            __syncthreads();
            if (threadIdx.y < 1) {
                tile[threadIdx.x + 1] = in[at + above * row + x];
                tile[(blockDim.y + 1) * width + threadIdx.x + 1] = in[at + below * row + x];
            }
            if (threadIdx.x < 1) {
                tile[(threadIdx.y + 1) * width] = in[at + y * row + before];
                tile[(threadIdx.y + 1) * width + blockDim.x + 1] = in[at + y * row + after];
            }
            tile[here] = centre;
            __syncthreads();
            out[at + i] = diffused(centre, tile[here - 1], tile[here + 1], tile[here - width], tile[here + width], behind,
                                   ahead, kappa);
            behind = centre;
            centre = ahead;
        }
    }
}

__global__ void shared_computed(const float *in, float *out, Size size, const float *sums) {
    extern __shared__ float tile[];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if ((x < size.x) & (y < size.y)) {
        float kappa = 0;
        for (int part = 0; part < PARTS; part++)
            kappa += sums[part];
        int row = size.x, plane = size.x * size.y, i = y * row + x, width = blockDim.x + 2;
        int here = (threadIdx.y + 1) * width + threadIdx.x + 1;
        int left = blockIdx.x * blockDim.x, top = blockIdx.y * blockDim.y;
        int before = max(left - 1, 0), after = min(left + (int)blockDim.x, size.x - 1);
        int above = max(top - 1, 0), below = min(top + (int)blockDim.y, size.y - 1);
        float behind = in[i], centre = behind;
        for (int z = 0; z < size.z; z++) {
            int at = z * plane;
            float ahead = in[min(z + 1, size.z - 1) * plane + i];
            __syncthreads();
            if (threadIdx.y < 1) {
                tile[threadIdx.x + 1] = in[at + above * row + x];
                tile[(blockDim.y + 1) * width + threadIdx.x + 1] = in[at + below * row + x];
            }
            if (threadIdx.x < 1) {
                tile[(threadIdx.y + 1) * width] = in[at + y * row + before];
                tile[(threadIdx.y + 1) * width + blockDim.x + 1] = in[at + y * row + after];
            }
            tile[here] = centre;
            __syncthreads();
            out[at + i] = diffused(centre, tile[here - 1], tile[here + 1], tile[here - width], tile[here + width], behind,
                                   ahead, kappa);
            behind = centre;
            centre = ahead;
        }
    }
}

// The gradients of a column of voxels, as parts of their mean.
__global__ void sum_gradients(const float *in, float *sums, Size size) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int row = size.x, plane = size.x * size.y, i = y * row + x;
    float sum = 0, centre = in[i];
    for (int z = 0; z < size.z; z++, i += plane) {
        float ahead = in[min(z + 1, size.z - 1) * plane + y * row + x];
        float dx = in[i - x + min(x + 1, size.x - 1)] - centre;
        float dy = in[i - y * row + min(y + 1, size.y - 1) * row] - centre;
        float dz = ahead - centre;
        sum += sqrtf(dx * dx + dy * dy + dz * dz);
        centre = ahead;
    }
    atomicAdd(&sums[(blockIdx.y * gridDim.x + blockIdx.x) % PARTS], sum / (float(size.x) * size.y * size.z));
}

static size_t voxels(Size size) { return size_t(size.x) * size.y * size.z; }

// Both on the host, one voxel after the other.
static float mean_gradient(const std::vector<float> &in, Size size) {
    size_t row = size.x, plane = row * size.y;
    double sum = 0;
    for (int z = 0; z < size.z; z++)
        for (int y = 0; y < size.y; y++)
            for (int x = 0; x < size.x; x++) {
                size_t i = z * plane + y * row + x;
                float dx = x + 1 < size.x ? in[i + 1] - in[i] : 0, dy = y + 1 < size.y ? in[i + row] - in[i] : 0;
                float dz = z + 1 < size.z ? in[i + plane] - in[i] : 0;
                sum += std::sqrt(dx * dx + dy * dy + dz * dz);
            }
    return float(sum / voxels(size));
}

static void diffuse(const std::vector<float> &in, std::vector<float> &out, Size size, float kappa) {
    size_t row = size.x, plane = row * size.y;
    for (int z = 0; z < size.z; z++)
        for (int y = 0; y < size.y; y++)
            for (int x = 0; x < size.x; x++) {
                size_t i = z * plane + y * row + x;
                float centre = in[i];
                out[i] = diffused(centre, x > 0 ? in[i - 1] : centre, x + 1 < size.x ? in[i + 1] : centre,
                                  y > 0 ? in[i - row] : centre, y + 1 < size.y ? in[i + row] : centre,
                                  z > 0 ? in[i - plane] : centre, z + 1 < size.z ? in[i + plane] : centre, kappa);
            }
}

// A body with organs, in the units of a CT: 0 is water.
static float phantom(float x, float y, float z) {
    struct Ellipsoid {
        float x, y, z, a, b, c, value;
    };
    static const Ellipsoid parts[] = {
        {0, 0, 0, .92f, .75f, 2, 1040},     {0, 0, 0, .84f, .67f, 2, -80},      {-.4f, -.1f, 0, .3f, .35f, .7f, 110},
        {.45f, .1f, .1f, .2f, .3f, .5f, 80}, {0, .5f, 0, .12f, .12f, 2, 400}, {.1f, -.3f, -.2f, .15f, .1f, .3f, -400},
    };
    float value = -1000;
    for (const Ellipsoid &part : parts) {
        float dx = (x - part.x) / part.a, dy = (y - part.y) / part.b, dz = (z - part.z) / part.c;
        if (dx * dx + dy * dy + dz * dz < 1)
            value += part.value;
    }
    return value;
}

struct Quality {
    double noise, edges;
};

// Noise is the standard deviation from the phantom where it is flat; edges are what is left of its steps in x.
static Quality quality(const std::vector<float> &image, const std::vector<float> &truth, Size size) {
    size_t row = size.x, plane = row * size.y;
    double square = 0, steps = 0, left = 0;
    size_t flat = 0;
    for (int z = 1; z + 1 < size.z; z++)
        for (int y = 1; y + 1 < size.y; y++)
            for (int x = 2; x + 2 < size.x; x++) {
                size_t i = z * plane + y * row + x;
                float here = truth[i];
                bool is_flat = truth[i - 2] == here && truth[i + 2] == here && truth[i - 1] == here && truth[i + 1] == here &&
                               truth[i - row] == here && truth[i + row] == here && truth[i - plane] == here &&
                               truth[i + plane] == here;
                if (is_flat) {
                    square += (image[i] - here) * (image[i] - here);
                    flat++;
                }
                double step = truth[i + 1] - here;
                if (step != 0) {
                    steps += std::fabs(step);
                    left += (image[i + 1] - image[i]) * (step > 0 ? 1 : -1);
                }
            }
    return {std::sqrt(square / std::max<size_t>(flat, 1)), left / std::max(steps, 1.0)};
}

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

int main(int count, char **arguments) {
    Size size{};
    unsigned width = 0, height = 0;
    if (count != 5 || sscanf(arguments[2], "%ux%u", &width, &height) != 2 ||
        sscanf(arguments[3], "%dx%dx%d", &size.x, &size.y, &size.z) != 3 || width == 0 || height == 0 || size.x < 5 ||
        size.y < 3 || size.z < 3 || size.x % width != 0 || size.y % height != 0) {
        fprintf(stderr, "usage: study VERSION BLOCK SIZE STEPS, where blocks fit into the size\n");
        return 2;
    }
    std::string version = arguments[1];
    bool is_shared = version.find("shared") == 0, is_cpu = version.find("cpu") == 0;
    bool is_computed = version.find("computed") != std::string::npos;
    std::vector<int> timed;
    for (std::stringstream list(arguments[4]); list;) {
        std::string steps;
        if (std::getline(list, steps, ','))
            timed.push_back(atoi(steps.c_str()));
    }
    if (timed.empty() || !std::is_sorted(timed.begin(), timed.end())) {
        fprintf(stderr, "steps are numbers in order, such as 10,30,50\n");
        return 2;
    }
    std::vector<float> truth(voxels(size)), image(voxels(size));
    std::mt19937 random(1);
    std::normal_distribution<float> noise(0, 40);
    for (size_t i = 0; i < image.size(); i++) {
        int x = i % size.x, y = i / size.x % size.y, z = i / size.x / size.y;
        truth[i] = phantom(2 * (x + .5f) / size.x - 1, 2 * (y + .5f) / size.y - 1, 2 * (z + .5f) / size.z - 1);
        image[i] = truth[i] + noise(random);
    }
    Quality before = quality(image, truth, size);
    float kappa = FIXED_KAPPA;
    std::vector<double> seconds, processor;
    std::chrono::steady_clock::time_point start;
    clock_t worked = 0;
    auto time_step = [&](int step) {
        while (seconds.size() < timed.size() && timed[seconds.size()] == step) {
            if (!is_cpu)
                check(cudaDeviceSynchronize());
            seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
            processor.push_back(double(clock() - worked) / CLOCKS_PER_SEC);
        }
    };
    if (is_cpu) {
        std::vector<float> other(image.size());
        start = std::chrono::steady_clock::now();
        worked = clock();
        for (int step = 1; step <= timed.back(); step++) {
            kappa = is_computed ? mean_gradient(image, size) : kappa;
            diffuse(image, other, size, kappa);
            image.swap(other);
            time_step(step);
        }
    } else {
        float *in, *out, *sums;
        size_t bytes = image.size() * sizeof(float);
        check(cudaMalloc(&in, bytes));
        check(cudaMalloc(&out, bytes));
        check(cudaMalloc(&sums, PARTS * sizeof(float)));
        check(cudaMemcpy(in, image.data(), bytes, cudaMemcpyHostToDevice));
        dim3 block(width, height), columns(size.x / width, size.y / height), grid(columns.x, columns.y, size.z);
        size_t tile = is_shared ? (width + 2) * (height + 2) * sizeof(float) : 0;
        check(cudaDeviceSynchronize());
        start = std::chrono::steady_clock::now();
        worked = clock();
        for (int step = 1; step <= timed.back(); step++) {
            if (is_computed) {
                check(cudaMemsetAsync(sums, 0, PARTS * sizeof(float)));
                sum_gradients<<<columns, block>>>(in, sums, size);
            }
            if (is_shared && is_computed)
                shared_computed<<<columns, block, tile>>>(in, out, size, sums);
            else if (is_shared)
                shared_fixed<<<columns, block, tile>>>(in, out, size, kappa);
            else if (is_computed)
                cache_computed<<<grid, block>>>(in, out, size, sums);
            else
                cache_fixed<<<grid, block>>>(in, out, size, kappa);
            std::swap(in, out);
            time_step(step);
        }
        check(cudaMemcpy(image.data(), in, bytes, cudaMemcpyDeviceToHost));
        if (is_computed) {
            float parts[PARTS];
            check(cudaMemcpy(parts, sums, sizeof parts, cudaMemcpyDeviceToHost));
            kappa = 0;
            for (float part : parts)
                kappa += part;
        }
    }
    Quality after = quality(image, truth, size);
    auto print_list = [](const char *name, const std::vector<double> &list) {
        printf("\"%s\":[", name);
        for (size_t i = 0; i < list.size(); i++)
            printf("%s%.6f", i > 0 ? "," : "", list[i]);
        printf("],");
    };
    printf("{");
    print_list("seconds", seconds);
    print_list("processor", processor);
    printf("\"kappa\":%.3f,\"noise_before\":%.3f,\"noise_after\":%.3f,\"edges_before\":%.4f,\"edges_after\":%.4f}\n", kappa, before.noise, after.noise, before.edges, after.edges);
}
