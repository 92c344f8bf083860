#include "memcheck.h"

__global__ void sort(int *data, int n) {
    int values[8];
    for (int i = 0; i < 8; i++)
        values[i] = data[i];
    for (int i = 0; i < n; i++)
        values[data[i] + i] += i; //~ ERROR local-out-of-bounds
    data[0] = values[data[1]];
}

int main() {
    sort<<<1, 1>>>(device<int>(16), WRONG_OR_RIGHT(9, 8));
    return finish();
}
