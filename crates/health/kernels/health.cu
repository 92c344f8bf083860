// The kernels of `warpgrind health`: `nvcc -ptx -arch=compute_75 health.cu -o health.ptx` makes what is bundled.
//
// Each thread computes a number from its own and from a seed, for some rounds, and writes it. All arithmetic is exact in the sense
// of IEEE 754 or of integers, without functions that libraries round in their own ways: so every machine must come to the same.

typedef unsigned int u32;
typedef unsigned long long u64;

__device__ u32 mixed(u32 value) {
    value ^= value >> 16;
    value *= 0x7feb352du;
    value ^= value >> 15;
    value *= 0x846ca68bu;
    return value ^ value >> 16;
}

// Integer arithmetic and logic of 32 and 64 bits.
extern "C" __global__ void integers(u64 *out, u32 rounds, u32 seed) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u64 value = mixed(thread ^ seed);
    for (u32 round = 0; round < rounds; round++) {
        value = value * 6364136223846793005ull + 1442695040888963407ull;
        value ^= value >> 29;
        value += __umulhi((u32)value, mixed(round));
    }
    out[thread] = value;
}

// Multiply-add of single precision.
extern "C" __global__ void fp32(u64 *out, u32 rounds, u32 seed) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    float x = (float)(mixed(thread ^ seed) >> 8) * 0x1p-24f, y = 0.5f;
    for (u32 round = 0; round < rounds; round++) {
        // The logistic map: every bit of it matters soon.
        x = __fmul_rn(__fmul_rn(3.99f, x), __fadd_rn(1.0f, -x));
        y = __fmaf_rn(y, 0.75f, x);
    }
    out[thread] = (u64)__float_as_uint(x) << 32 | __float_as_uint(y);
}

// Multiply-add of double precision, and divisions.
extern "C" __global__ void fp64(u64 *out, u32 rounds, u32 seed) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    double x = (double)mixed(thread ^ seed) * 0x1p-32, y = 1.0;
    for (u32 round = 0; round < rounds; round++) {
        x = __dmul_rn(__dmul_rn(3.99, x), __dadd_rn(1.0, -x));
        y = __fma_rn(y, 0.75, __ddiv_rn(x, 1.0 + y));
    }
    out[thread] = (u64)__double_as_longlong(x) ^ (u64)__double_as_longlong(y);
}

// Shared memory, barriers, and loads and stores of global memory.
extern "C" __global__ void memory(u64 *out, u32 rounds, u32 seed) {
    __shared__ u32 shared[256];
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x] = mixed(thread ^ seed);
    for (u32 round = 0; round < rounds; round++) {
        __syncthreads();
        u32 other = shared[(threadIdx.x * 5 + round) % 256];
        __syncthreads();
        shared[threadIdx.x] = mixed(other + round);
        out[thread] = (u64)other << 32 | round;
    }
    __syncthreads();
    out[thread] ^= shared[255 - threadIdx.x];
}
