#include "memcheck.h"

__global__ void rotate(int *data, int by) {
    int values[16];
    for (int i = 0; i < 16; i++)
        values[i] = data[i];
    data[0] = values[by]; //~ ERROR local-out-of-bounds
}

int main() {
    rotate<<<1, 1>>>(device<int>(16), WRONG_OR_RIGHT(-1, 1));
    return finish();
}
