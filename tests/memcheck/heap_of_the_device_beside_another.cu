// Two objects of the device's heap, one freed before the mistake and one after it: the report names the one that is there.
#include "memcheck.h"

__global__ void work(int *out) {
    volatile int *first = (volatile int *)malloc(10 * sizeof(int));
    volatile int *second = (volatile int *)malloc(20 * sizeof(int));
    first[3] = 1;
    *out = first[3];
    free((void *)first);
    for (int i = 0; i < WRONG_OR_RIGHT(21, 20); i++)
        second[i] = i; //~ ERROR out-of-bounds
    *out += second[5];
    free((void *)second);
}

int main() {
    work<<<1, 1>>>(device<int>(1));
    return finish();
}
