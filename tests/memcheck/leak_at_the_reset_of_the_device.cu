//@ flags: --leak-check full
#include "memcheck.h"


int main() {
    int *first, *second;
    OK(cudaMalloc(&first, 1000)); //~ ERROR leak
    OK(cudaMalloc(&second, 1));
#ifdef FIXED
    OK(cudaFree(first));
#endif
    OK(cudaFree(second));
    OK(cudaDeviceReset());
    return finish();
}
