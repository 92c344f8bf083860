#include "memcheck.h"

__global__ void write(int *result) {
    *result = 1; //~ ERROR host-memory
}

int main() {
    int result;
    write<<<1, 1>>>(WRONG_OR_RIGHT(&result, device<int>(1)));
    return finish();
}
