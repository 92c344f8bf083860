//@ flags: --leak-check full
#include "memcheck.h"


__global__ void work(int *out) {
    int *data = (int *)malloc(100); //~ ERROR device-heap-leak
    data[0] = 1;
    *out = data[0];
#ifdef FIXED
    free(data);
#endif
}

int main() {
    int *out = device<int>(1);
    work<<<1, 1>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return finish();
}
