#include "../memcheck/memcheck.h"

// Bytes that two threads share: accesses of different sizes race if they overlap, and only then.
struct Pixel {
    unsigned char red, green, blue, alpha;
};
struct Particle {
    float x, y, z;
    short cell;
    char flag;
};
struct Fields {
    unsigned low : 12, high : 20;
};

// Each thread has a byte of a word, which is fine; but one of them writes two.
__global__ void bytes(unsigned char *out) {
    __shared__ unsigned char row[128];
    row[threadIdx.x] = threadIdx.x; //~ ERROR data-race
    if (threadIdx.x == 63) row[threadIdx.x + WRONG_OR_RIGHT(1, 0)] = 7;
    __syncthreads();
    out[threadIdx.x] = row[127 - threadIdx.x];
}

// A short of one warp against bytes of another.
__global__ void short_and_bytes(unsigned char *out) {
    __shared__ __align__(8) unsigned char row[128];
    if (threadIdx.x < 32)
        ((short *)row)[threadIdx.x] = threadIdx.x + 0x101;
    else
        row[threadIdx.x + WRONG_OR_RIGHT(31, 32)] = 7; //~ ERROR data-race
    __syncthreads();
    out[threadIdx.x] = row[127 - threadIdx.x];
}

// Two words at a time from one side, single words from the other.
__global__ void pairs(int *out) {
    __shared__ int2 row[64];
    if (threadIdx.x < 32) row[threadIdx.x] = make_int2(threadIdx.x, 1);
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (threadIdx.x >= 32) out[threadIdx.x] = ((int *)row)[threadIdx.x * 2 - 63]; //~ ERROR data-race
}

// Four floats at a time: the last one of the first warp reaches into the next one's part.
__global__ void quadruples(float *out) {
    __shared__ __align__(16) float row[256 + 8];
    int i = threadIdx.x < 32 ? threadIdx.x * 4 : 128 + WRONG_OR_RIGHT(-4, 0) + (threadIdx.x - 32) * 4;
    *(float4 *)(row + i) = make_float4(threadIdx.x, 1, 2, 3); //~ ERROR data-race
    __syncthreads();
    out[threadIdx.x] = row[threadIdx.x * 4 + 1];
}

// The upper half of a double.
__global__ void halves_of_a_double(double *out) {
    __shared__ double row[64];
    if (threadIdx.x < 32)
        row[threadIdx.x] = threadIdx.x;
    else
        ((unsigned *)row)[WRONG_OR_RIGHT((threadIdx.x - 32) * 2 + 1, threadIdx.x * 2 + 1)] = 5; //~ ERROR data-race
    __syncthreads();
    out[threadIdx.x] = row[63 - threadIdx.x];
}

// Components of a structure are apart; the whole of it is not.
__global__ void pixels(Pixel *image) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) image[lane].red = 1;
    if (warp == 1) image[lane].green = 2;
    if (warp == 2) image[lane].blue = 3;
    if (warp == 3) image[lane + WRONG_OR_RIGHT(0, 32)] = Pixel{4, 4, 4, 4}; //~ ERROR data-race
}

__global__ void particles(Particle *all, const float *speed) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Particle &mine = all[lane];
    if (warp == 0) mine.x += speed[lane];
    if (warp == 1) mine.y += speed[lane];
    if (warp == 2) mine.cell = mine.cell + 1;
    if (warp == 3) mine.flag = WRONG_OR_RIGHT(mine.cell, mine.flag) > 3; //~ ERROR data-race
}

// Fields of bits have one word: to write one is to read and write the other.
__global__ void fields_of_bits(Fields *all) {
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) all[lane].low = 9;
    if (threadIdx.x >= 32) all[lane + WRONG_OR_RIGHT(0, 32)].high = 11; //~ ERROR data-race
}

// Elements of eight bytes, of which a thread writes the neighbour's.
__global__ void long_elements(long long *out, int shift) {
    out[threadIdx.x] = threadIdx.x; //~ ERROR data-race
    if (threadIdx.x == 31) out[threadIdx.x + shift] = 1;
}

int main() {
    bytes<<<1, 128>>>(device<unsigned char>(128));
    short_and_bytes<<<1, 96>>>(device<unsigned char>(128));
    pairs<<<1, 64>>>(device<int>(64));
    quadruples<<<1, 64>>>(device<float>(64));
    halves_of_a_double<<<1, 64>>>(device<double>(64));
    pixels<<<1, 128>>>(device<Pixel>(64));
    particles<<<1, 128>>>(device<Particle>(32), device<float>(32));
    fields_of_bits<<<1, 64>>>(device<Fields>(64));
    long_elements<<<1, 64>>>(device<long long>(64), WRONG_OR_RIGHT(1, 0));
    return finish();
}
