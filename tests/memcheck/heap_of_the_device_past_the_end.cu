#include "memcheck.h"

__global__ void work(int *out) {
    int *data = (int *)malloc(10 * sizeof(int));
    for (int i = 0; i < WRONG_OR_RIGHT(11, 10); i++)
        data[i] = i; //~ ERROR out-of-bounds
    *out = data[5];
    free(data);
}

int main() {
    work<<<1, 1>>>(device<int>(1));
    return finish();
}
