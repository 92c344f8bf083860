#include "../../memcheck/memcheck.h"

// Contiguous words that begin K words after an allocation, whose start is a multiple of 256 bytes. 32 words from word K on reach
// into a fifth sector unless K is a multiple of 8, and into a second line unless it is one of 32.
#define START(K)                                                                                                       \
    __global__ void start_##K(float *to, const float *from) { to[threadIdx.x] = from[threadIdx.x + K]; }

START(0) //~ TRAFFIC global load requests=1 sectors=4 cache_lines=1; global store requests=1 sectors=4 cache_lines=1
START(1) //~ TRAFFIC global load requests=1 sectors=5 cache_lines=2; global store requests=1 sectors=4 cache_lines=1
START(4) //~ TRAFFIC global load requests=1 sectors=5 cache_lines=2; global store requests=1 sectors=4 cache_lines=1
START(7) //~ TRAFFIC global load requests=1 sectors=5 cache_lines=2; global store requests=1 sectors=4 cache_lines=1
START(8) //~ TRAFFIC global load requests=1 sectors=4 cache_lines=2; global store requests=1 sectors=4 cache_lines=1
START(9) //~ TRAFFIC global load requests=1 sectors=5 cache_lines=2; global store requests=1 sectors=4 cache_lines=1
START(16) //~ TRAFFIC global load requests=1 sectors=4 cache_lines=2; global store requests=1 sectors=4 cache_lines=1
START(24) //~ TRAFFIC global load requests=1 sectors=4 cache_lines=2; global store requests=1 sectors=4 cache_lines=1
START(31) //~ TRAFFIC global load requests=1 sectors=5 cache_lines=2; global store requests=1 sectors=4 cache_lines=1
START(32) //~ TRAFFIC global load requests=1 sectors=4 cache_lines=1; global store requests=1 sectors=4 cache_lines=1
START(33) //~ TRAFFIC global load requests=1 sectors=5 cache_lines=2; global store requests=1 sectors=4 cache_lines=1
START(64) //~ TRAFFIC global load requests=1 sectors=4 cache_lines=1; global store requests=1 sectors=4 cache_lines=1

int main() {
    float *to = device<float>(32), *from = device<float>(128);
    start_0<<<1, 32>>>(to, from);
    start_1<<<1, 32>>>(to, from);
    start_4<<<1, 32>>>(to, from);
    start_7<<<1, 32>>>(to, from);
    start_8<<<1, 32>>>(to, from);
    start_9<<<1, 32>>>(to, from);
    start_16<<<1, 32>>>(to, from);
    start_24<<<1, 32>>>(to, from);
    start_31<<<1, 32>>>(to, from);
    start_32<<<1, 32>>>(to, from);
    start_33<<<1, 32>>>(to, from);
    start_64<<<1, 32>>>(to, from);
    return finish();
}
