// Local memory is undefined when a function begins, and carries what is known of what is stored there.
#include "memcheck.h"

// An array that is not filled to its end.
__global__ void filled(const int *in, int *out, int n) {
    int row[32];
    for (int i = 0; i < n; i++) row[i] = in[i];
    if (row[31 - in[threadIdx.x]] == 0) out[threadIdx.x] = 1; //~ ERROR undefined-branch
    if (row[in[threadIdx.x]] == 0) out[threadIdx.x] = 2;
}

// What was undefined before it was there is undefined after.
__global__ void kept(const short *in, int *out, int n) {
    short values[16];
    for (int i = 0; i < 16; i++) values[i] = in[i];
    for (int i = 0; i < n; i++) values[i] = values[i + 1];
    if (values[n - 1] > 3) out[0] = 1; //~ ERROR undefined-branch
    if (values[n - 2] > 3) out[1] = 1;
}

struct Entry {
    char key;
    int value;
};

// An index from a table of structs, of which one member is not set.
__global__ void table(const int *in, int *out, int n) {
    Entry entries[8];
    for (int i = 0; i < 8; i++) {
        entries[i].key = in[i];
        if (i != n) entries[i].value = i;
    }
    Entry entry = entries[7 - in[0]];
    if (entry.key == 0) out[0] = 1;
    out[entry.value & 31] = 1; //~ ERROR undefined-address
}

__device__ __noinline__ int largest(const int *in, int n) {
    int best[4];
    if (n > WRONG_OR_RIGHT(4, 0)) best[in[0]] = 0;
    for (int i = 0; i < n; i++)
        if (in[i] > best[i & in[0]]) best[in[0]] = in[i]; //~ ERROR undefined-branch
    return best[in[1]];
}

// In a function that is called.
__global__ void called(const int *in, int *out) {
    out[0] = largest(in, 4);
}

__device__ __noinline__ void fill(int *values, int n) {
    for (int i = 0; i < n; i++) values[i] = i;
}

// Another function fills it, which does not know of what is known of it.
__global__ void elsewhere(const int *in, int *out) {
    int values[16];
    fill(values, 16);
    if (values[in[0]] == 0) out[0] = 1;
}

int main() {
    int *in = device<int>(32), *out = device<int>(32);
    filled<<<2, 32>>>(in, out, WRONG_OR_RIGHT(31, 32));
    short *halves = fresh<short>(16);
    OK(cudaMemset(halves, 0, WRONG_OR_RIGHT(30, 32)));
    kept<<<1, 1>>>(halves, out, 15);
    table<<<1, 1>>>(in, out, WRONG_OR_RIGHT(7, 8));
    called<<<1, 1>>>(in, out);
    elsewhere<<<1, 32>>>(in, out);
    return finish();
}
