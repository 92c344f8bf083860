#include "memcheck.h"


__global__ void work(int *out) {
    int *data = (int *)malloc(100);
    data[0] = 1;
    *out = data[0];
    free(data);
#ifndef FIXED
    free(data); //~ ERROR device-double-free
#endif
}

int main() {
    work<<<1, 1>>>(device<int>(1));
    return finish();
}
