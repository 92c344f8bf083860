#include "memcheck.h"


int main() {
    int *data;
    OK(cudaMallocHost(&data, 64));
#ifdef FIXED
    OK(cudaFreeHost(data));
#else
    cudaFree(data); //~ ERROR invalid-free
#endif
    return finish();
}
