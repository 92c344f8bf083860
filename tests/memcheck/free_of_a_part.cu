#include "memcheck.h"


int main() {
    int *data = device<int>(64);
    cudaFree(data + WRONG_OR_RIGHT(4, 0)); //~ ERROR invalid-free
    return finish();
}
