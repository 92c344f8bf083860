//@ flags: --leak-check full
#include "memcheck.h"


int main() {
    int *data;
    OK(cudaMallocAsync(&data, 1000, 0)); //~ ERROR leak
#ifdef FIXED
    OK(cudaFreeAsync(data, 0));
#endif
    return finish();
}
