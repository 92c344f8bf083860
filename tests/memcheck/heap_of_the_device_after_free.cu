#include "memcheck.h"

__global__ void work(int *out) {
    volatile int *data = (volatile int *)malloc(64 * sizeof(int));
    data[3] = 7;
#ifdef FIXED
    *out = data[3];
    free((void *)data);
#else
    free((void *)data);
    *out = data[3]; //~ ERROR use-after-free
#endif
}

int main() {
    work<<<1, 1>>>(device<int>(1));
    return finish();
}
