#include "memcheck.h"

__global__ void terminate(char *text, int length) {
    text[length + WRONG_OR_RIGHT(0, -1)] = 0; //~ ERROR out-of-bounds
}

int main() {
    terminate<<<1, 1>>>(device<char>(45), 45);
    return finish();
}
