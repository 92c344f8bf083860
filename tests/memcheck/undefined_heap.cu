// Memory that kernels allocate is undefined, in this launch and in later ones.
#include "memcheck.h"

__device__ int *kept;

__global__ void allocate(int *out) {
    int *data = (int *)malloc(16 * sizeof(int));
    for (int i = 0; i < WRONG_OR_RIGHT(15, 16); i++) data[i] = i;
    if (data[3] == 3) out[0] = 1;
    if (data[15] == 15) out[1] = 1; //~ ERROR undefined-branch
    kept = data;
}

__global__ void use(int *out) {
    if (kept[14] == 14) out[2] = 1;
    if (kept[15] == 15) out[3] = 1; //~ ERROR undefined-branch
    free(kept);
}

int main() {
    int *out = device<int>(4);
    allocate<<<1, 1>>>(out);
    use<<<1, 1>>>(out);
    return finish();
}
