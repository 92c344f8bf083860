#include "memcheck.h"

__global__ void write(int *data) {
    data[threadIdx.x] = 1; //~ ERROR host-memory
}

int main() {
    int *data = WRONG_OR_RIGHT((int *)malloc(4096), device<int>(1024));
    write<<<1, 64>>>(data);
    return finish();
}
