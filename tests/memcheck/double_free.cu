#include "memcheck.h"


int main() {
    int *data = device<int>(64);
    OK(cudaFree(data));
#ifndef FIXED
    cudaFree(data); //~ ERROR double-free
#endif
    return finish();
}
