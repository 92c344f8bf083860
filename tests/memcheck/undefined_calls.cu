// Undefined values are arguments and results of functions that are not inlined.
#include "memcheck.h"

__device__ __noinline__ void store_if(int *out, int value, int limit) {
    if (value > limit) *out = value; //~ ERROR undefined-branch
}

// An argument decides.
__global__ void argument(const int *in, int *out) {
    store_if(out, in[threadIdx.x], 7);
}

__device__ __noinline__ int largest(const int *in, int n) {
    int best = in[0];
    for (int i = 1; i < n; i++) best = max(best, in[i] & 0xff);
    return best;
}

// A result decides.
__global__ void result(const int *in, int *out) {
    int best = largest(in, 4);
    if (best == 3) out[0] = best; //~ ERROR undefined-branch
}

__device__ __noinline__ int only_first(int first, int second) {
    return first + (second & 0);
}

// An argument of which nothing depends.
__global__ void not_used(const int *in, int *out) {
    if (only_first(threadIdx.x, in[threadIdx.x]) == 3) out[0] = 1;
}

__device__ __noinline__ int upper_half(int value) {
    return value & 0xffff0000;
}

// The part of an argument that is defined, and the one that is not.
__global__ void masked(const int *in, int *out, int which) {
    if (upper_half(in[0]) == which) out[0] = 1;
    if (upper_half(in[1]) == which) out[1] = 1; //~ ERROR undefined-branch
}

struct Point {
    int x;
    char tag;
    double y;
};

__device__ __noinline__ bool is_right(Point point) {
    return point.x > 3;
}

__device__ __noinline__ bool is_above(Point point) {
    return point.y > 3;
}

__device__ __noinline__ bool is_tagged(Point point) {
    return point.tag == 3;
}

// A struct with a member that is not set.
__global__ void member(const Point *points, int *out) {
    Point point = points[threadIdx.x];
    if (is_right(point)) out[0] = 1;
    if (is_tagged(point)) out[1] = 1;
    if (is_above(point)) out[2] = 1; //~ ERROR undefined-branch
}

__device__ __noinline__ Point shifted(Point point, double by) {
    point.x += 1;
    point.y += by;
    return point;
}

// A struct that comes back.
__global__ void member_of_result(const Point *points, int *out) {
    Point point = shifted(points[threadIdx.x], 1.5);
    if (point.x > 3) out[0] = 1;
    if (point.tag > 3) out[1] = 1;
    if (point.y > 3) out[2] = 1; //~ ERROR undefined-branch
}

// The value goes through all calls, and back.
__device__ __noinline__ int sum_down(const int *in, int n, int sum) {
    if (n == 0) return sum;
    return sum_down(in, n - 1, sum + in[n - 1]) ^ n;
}

__global__ void recursion(const int *in, int *out) {
    if (sum_down(in, 3, threadIdx.x) == 3) out[0] = 1;
    if (sum_down(in, 4, threadIdx.x) == 3) out[1] = 1; //~ ERROR undefined-branch
}

__device__ __noinline__ bool is_odd(unsigned n);

__device__ __noinline__ bool is_even(unsigned n) {
    if (n == 0) return true; //~ ERROR undefined-branch
    return is_odd(n - 1);
}

__device__ __noinline__ bool is_odd(unsigned n) {
    if (n == 0) return false;
    return is_even(n - 1);
}

// Functions that call each other.
__global__ void mutual_recursion(const int *in, int *out) {
    out[0] = is_even(in[1] & 3);
}

__device__ __noinline__ int at(const int *const *where, int index) {
    return (*where)[index];
}

__device__ __noinline__ int through(const long long pointer) {
    return *(const int *)pointer; //~ ERROR undefined-address
}

// A pointer.
__global__ void pointer(const long long *pointers, const int *in, int *out) {
    long long where = pointers[threadIdx.x] & 0;
    out[0] = through((long long)in + where);
    out[1] = at(&in, 0);
    out[2] = through((long long)in + (pointers[threadIdx.x] & 4));
}

__device__ __noinline__ long long wide(int high, short low, float factor, bool is_negative) {
    long long value = ((long long)high << 32) + low * (long long)factor;
    return is_negative ? -value : value;
}

// Types of all sizes.
__global__ void sizes(const short *in, const float *factors, const bool *flags, int *out) {
    if (wide(1, in[0], factors[0], flags[0]) > 3) out[0] = 1;
    if (wide(1, in[1], factors[0], flags[0]) > 3) out[1] = 1; //~ ERROR undefined-branch
    if (wide(1, in[0], factors[1], flags[0]) > 3) out[2] = 1; //~ ERROR undefined-branch
    if (wide(1, in[0], factors[0], flags[1]) > 3) out[3] = 1; //~ ERROR undefined-branch
    if (wide(1, in[1], factors[1], flags[0]) >> 60 == 3) out[4] = 1; //~ ERROR undefined-branch
}

typedef int Operation(int);

__device__ __noinline__ int twice(int value) {
    return value > 3 ? value : value * 2;
}

__device__ Operation *operation = twice;

// A function that is also called through a pointer: what it is given counts as defined.
__global__ void indirect(const int *in, int *out) {
    if (operation(in[1]) == 3) out[0] = 1;
    if (twice(in[1]) == 3) out[1] = 1;
}

// Only some of the threads of a warp call with something undefined.
__global__ void some_threads(const int *in, int *out) {
    int *own = out + threadIdx.x;
    if (threadIdx.x & 1) {
        store_if(own, in[threadIdx.x == 5 ? 1 : 0], 7);
    } else {
        store_if(own, threadIdx.x, 7);
    }
}

// From shared memory that nobody has written.
__global__ void shared(int *out) {
    __shared__ int values[32];
    if (threadIdx.x < WRONG_OR_RIGHT(31, 32)) values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (upper_half(values[threadIdx.x]) == 0) out[0] = 1; //~ ERROR undefined-branch
}

int main() {
    int *out = device<int>(32);
    int *in = fresh<int>(32);
    OK(cudaMemset(in, 0, WRONG_OR_RIGHT(4, 128)));
    argument<<<1, 1>>>(in + 1, out);
    result<<<1, 1>>>(in, out);
    not_used<<<1, 1>>>(in + 1, out);
    int *halves_of_words = fresh<int>(2);
    OK(cudaMemset((char *)halves_of_words + 2, 0, WRONG_OR_RIGHT(2, 6)));
    masked<<<1, 1>>>(halves_of_words, out, 0);
    Point *points = fresh<Point>(1);
    OK(cudaMemset(points, 0, WRONG_OR_RIGHT(8, sizeof(Point))));
    member<<<1, 1>>>(points, out);
    member_of_result<<<1, 1>>>(points, out);
    int *values = fresh<int>(4);
    OK(cudaMemset(values, 0, WRONG_OR_RIGHT(12, 16)));
    recursion<<<1, 1>>>(values, out);
    mutual_recursion<<<1, 1>>>(in, out);
    long long *pointers = fresh<long long>(1);
    if (WRONG_OR_RIGHT(0, 1)) OK(cudaMemset(pointers, 0, 8));
    pointer<<<1, 1>>>(pointers, device<int>(4), out);
    short *halves = fresh<short>(2);
    float *factors = fresh<float>(2);
    bool *flags = fresh<bool>(2);
    OK(cudaMemset(halves, 0, WRONG_OR_RIGHT(2, 4)));
    OK(cudaMemset(factors, 0, WRONG_OR_RIGHT(4, 8)));
    OK(cudaMemset(flags, 0, WRONG_OR_RIGHT(1, 2)));
    sizes<<<1, 1>>>(halves, factors, flags, out);
    indirect<<<1, 1>>>(in, out);
    some_threads<<<1, 32>>>(in, out);
    shared<<<1, 32>>>(out);
    return finish();
}
