// Values that nobody has written decide what threads do: by a comparison, after arithmetic, in a loop, under a guard.
#include "memcheck.h"

__global__ void compared(const float *a, float *o) {
    if (a[threadIdx.x] > 0) o[threadIdx.x] = a[threadIdx.x]; //~ ERROR undefined-branch
}

// The sum of all elements, of which the last is not there.
__global__ void ksum(int *out, const int *in, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += in[i];
    if (sum == 0) { //~ ERROR undefined-branch
        out[1] = sum;
    } else {
        out[0] = sum;
    }
}

// Only where the mask is not 0 is the value looked at.
__global__ void masked(int *out, const int *in, const int *mask, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        if (mask[i]) sum += in[i];
    if (sum > 5) out[0] = sum;
}

__global__ void loop(const int *n, volatile int *out) {
    for (int i = 0; i < (*n & 7); i++) out[i] = i; //~ ERROR undefined-branch
}

__global__ void floating(const double *in, int *out) {
    double d = in[0] * 2 + 1;
    if (sqrt(d) < 7) out[0] = 1; //~ ERROR undefined-branch
}

__global__ void chosen(const int *in, int *out) {
    int c = in[0];
    int d = in[1] == 3 ? c : 4;
    if (d == 4) atomicAdd(out, 1); //~ ERROR undefined-branch
}

int main() {
    float *a = fresh<float>(32);
    if (WRONG_OR_RIGHT(0, 1)) cudaMemset(a, 0, 32 * 4);
    compared<<<1, 32>>>(a, device<float>(32));
    int *in = fresh<int>(64);
    cudaMemset(in, 1, (64 - WRONG_OR_RIGHT(1, 0)) * 4);
    ksum<<<1, 1>>>(device<int>(2), in, 64);
    int *mask = device<int>(64);
    cudaMemset(mask, 1, 63 * 4);
    masked<<<1, 1>>>(device<int>(2), in, mask, 64);
    int *n = fresh<int>(2);
    if (WRONG_OR_RIGHT(0, 1)) cudaMemset(n, 0, 8);
    loop<<<1, 1>>>(n, device<int>(8));
    floating<<<1, 1>>>((double *)n, device<int>(1));
    chosen<<<1, 1>>>(n, device<int>(1));
    return finish();
}
