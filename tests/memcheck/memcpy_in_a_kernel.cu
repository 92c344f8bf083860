#include "memcheck.h"

__global__ void copy(char *to, const char *from, int bytes) {
    memcpy(to, from, bytes); //~ ERROR out-of-bounds
}

int main() {
    copy<<<1, 1>>>(device<char>(100), device<char>(200), WRONG_OR_RIGHT(101, 100));
    return finish();
}
