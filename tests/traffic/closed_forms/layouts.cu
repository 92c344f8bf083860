#include "../../memcheck/memcheck.h"

// One member of each structure of an array, and the same in an array of its own. Structures of S words have a stride of S words:
// min(4 S, 32) sectors and min(S, 32) lines.
struct Three { float x, y, z; };
struct Four { float x, y, z, w; };
struct Five { float x, y, z, u, v; };
struct Eight { float of[8]; };
struct Twelve { float of[12]; };

__global__ void structures_of_3(float *to, const Three *from) {
    to[threadIdx.x] = from[threadIdx.x].x; //~ TRAFFIC global load requests=1 sectors=12 cache_lines=3; global store requests=1 sectors=4 cache_lines=1
}

__global__ void structures_of_4(float *to, const Four *from) {
    to[threadIdx.x] = from[threadIdx.x].x; //~ TRAFFIC global load requests=1 sectors=16 cache_lines=4; global store requests=1 sectors=4 cache_lines=1
}

__global__ void structures_of_5(float *to, const Five *from) {
    to[threadIdx.x] = from[threadIdx.x].x; //~ TRAFFIC global load requests=1 sectors=20 cache_lines=5; global store requests=1 sectors=4 cache_lines=1
}

__global__ void structures_of_8(float *to, const Eight *from) {
    to[threadIdx.x] = from[threadIdx.x].of[0]; //~ TRAFFIC global load requests=1 sectors=32 cache_lines=8; global store requests=1 sectors=4 cache_lines=1
}

// The last of 12 words of 48 bytes: sectors begin every 32 bytes, so each lane has one of its own; 32 * 48 bytes are 12 lines.
__global__ void structures_of_12(float *to, const Twelve *from) {
    to[threadIdx.x] = from[threadIdx.x].of[11]; //~ TRAFFIC global load requests=1 sectors=32 cache_lines=12; global store requests=1 sectors=4 cache_lines=1
}

// All members, one after another: three requests, each of which touches the same 12 sectors.
__global__ void all_of_3(float *to, const Three *from) {
    const volatile Three &one = from[threadIdx.x];
    float sum = one.x + one.y + one.z; //~ TRAFFIC global load requests=3 sectors=3*12 cache_lines=3*3
    to[threadIdx.x] = sum; //~ TRAFFIC global store requests=1 sectors=4 cache_lines=1
}

struct Arrays { const float *x, *y, *z; };

__global__ void arrays(float *to, Arrays from) {
    float sum = from.x[threadIdx.x] + from.y[threadIdx.x] + from.z[threadIdx.x]; //~ TRAFFIC global load requests=3 sectors=3*4 cache_lines=3*1
    to[threadIdx.x] = sum; //~ TRAFFIC global store requests=1 sectors=4 cache_lines=1
}

int main() {
    float *to = device<float>(32), *from = device<float>(32 * 12);
    structures_of_3<<<1, 32>>>(to, (Three *)from);
    structures_of_4<<<1, 32>>>(to, (Four *)from);
    structures_of_5<<<1, 32>>>(to, (Five *)from);
    structures_of_8<<<1, 32>>>(to, (Eight *)from);
    structures_of_12<<<1, 32>>>(to, (Twelve *)from);
    all_of_3<<<1, 32>>>(to, (Three *)from);
    arrays<<<1, 32>>>(to, {from, from + 64, from + 128});
    return finish();
}
