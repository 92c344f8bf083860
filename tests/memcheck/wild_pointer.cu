#include "memcheck.h"

__global__ void write(float *data) {
    *data = 1; //~ ERROR wild-pointer
}

int main() {
    write<<<1, 1>>>(WRONG_OR_RIGHT((float *)0xdeadbeef0000, device<float>(1)));
    return finish();
}
